#include "tamis/run/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "tamis/base/error.h"

namespace tamis {

namespace {

constexpr std::size_t kPiece = 1 << 20;

[[noreturn]] void fail_io(const std::string& path, int error) { fail(ErrorCode::io, path, ": ", std::strerror(error)); }

// Closes on every way out.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  ~Descriptor() {
    if (value_ >= 0) close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int value() const { return value_; }
  int release() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// The nearest folder above that exists: what must be writable for the rest to be made.
std::string existing_parent(const std::string& path) {
  std::filesystem::path parent = std::filesystem::absolute(path);
  std::error_code ignored;
  while (!std::filesystem::exists(parent, ignored) && parent.has_relative_path()) parent = parent.parent_path();
  return parent.string();
}

void flush_folder(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder; the files themselves are safe by then.
  if (folder.value() >= 0) fsync(folder.value());
}

}  // namespace

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_io(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void FileWriter::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kPiece) flush();
}

void FileWriter::flush() {
  write_all(descriptor_, buffer_, path_);
  buffer_.clear();
}

namespace {
// Plain memory: a handler may look at it at any moment. A path too long to note is only not removed on a crash.
constexpr int kSlots = 16;
constexpr std::size_t kNameSize = 4096;
char temporary_names[kSlots][kNameSize];
std::atomic<bool> name_used[kSlots];
}  // namespace

TemporaryName::TemporaryName(const std::string& path) {
  for (int slot = 0; slot < kSlots && slot_ < 0 && path.size() < kNameSize; ++slot) {
    if (name_used[slot]) continue;
    path.copy(temporary_names[slot], path.size());
    temporary_names[slot][path.size()] = '\0';
    name_used[slot] = true;
    slot_ = slot;
  }
}

TemporaryName::~TemporaryName() {
  if (slot_ >= 0) name_used[slot_] = false;
}

void remove_temporaries() {
  for (int slot = 0; slot < kSlots; ++slot) {
    if (name_used[slot]) unlink(temporary_names[slot]);
  }
}

OutputFolder::OutputFolder(std::string path, const std::vector<std::string>& names,
                           const std::vector<std::string>& inputs)
    : path_(std::move(path)) {
  require(!path_.empty(), ErrorCode::usage, "output: '', need a folder");
  struct stat folder {};
  if (stat(path_.c_str(), &folder) == 0) {
    require(S_ISDIR(folder.st_mode), ErrorCode::usage, "output: ", path_, " is no folder, need one or a new name");
  }
  const std::string parent = existing_parent(path_);
  struct stat above {};
  if (stat(parent.c_str(), &above) == 0) {
    require(S_ISDIR(above.st_mode), ErrorCode::usage, "output: ", parent, " is no folder, need one or a new name");
  }
  if (access(parent.c_str(), W_OK) != 0) fail_io(parent, errno);
  for (const auto& name : names) {
    const std::string target = path_ + "/" + name;
    struct stat there {};
    if (stat(target.c_str(), &there) != 0) continue;
    require(!S_ISDIR(there.st_mode), ErrorCode::usage, "output: ", target, " is a folder, need a file or nothing");
    for (const auto& input : inputs) {
      struct stat in {};
      const bool same = stat(input.c_str(), &in) == 0 && in.st_dev == there.st_dev && in.st_ino == there.st_ino;
      require(!same, ErrorCode::usage, "output: ", target, " is the input ", input, ", need another folder");
    }
  }
}

OutputFolder::~OutputFolder() {
  for (const auto& file : pending_) unlink(file.temporary.c_str());
  if (made_ && !pending_.empty()) rmdir(path_.c_str());  // only where it is empty
}

void OutputFolder::make_folder() {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) return;
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) fail_io(path_, error.value());
  made_ = true;
}

void OutputFolder::add(const std::string& name, const std::function<void(FileWriter&)>& fill) {
  make_folder();
  std::string temporary = path_ + "/." + name + ".XXXXXX";
  Descriptor file(mkostemp(temporary.data(), O_CLOEXEC));
  if (file.value() < 0) fail_io(path_ + "/" + name, errno);
  const std::string target = path_ + "/" + name;
  pending_.push_back({temporary, target, TemporaryName(temporary)});
  fchmod(file.value(), 0644);
  FileWriter writer(file.value(), target);
  fill(writer);
  writer.flush();
  if (fsync(file.value()) != 0 && errno != EINVAL && errno != EROFS) fail_io(target, errno);
  if (close(file.release()) != 0) fail_io(target, errno);
}

void OutputFolder::commit() {
  while (!pending_.empty()) {
    const auto& file = pending_.front();
    if (rename(file.temporary.c_str(), file.target.c_str()) != 0) fail_io(file.target, errno);
    pending_.erase(pending_.begin());
    made_ = false;
  }
  flush_folder(path_);
}

}  // namespace tamis
