#include "tamis/run/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tamis/base/error.h"

namespace tamis {

namespace {

constexpr std::size_t kPiece = 1 << 20;

[[noreturn]] void fail_io(const std::string& path, int error) { fail(ErrorCode::io, path, ": ", std::strerror(error)); }

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
  if (folder.open()) fsync(folder.value());
}

// Of a temporary file, ".NAME.tamis-XXXXXX": nobody else calls a file so.
constexpr std::string_view kTemporary = ".tamis-";
constexpr std::size_t kRandomLetters = 6;

// The NAME that a temporary file will get; nothing where it is no temporary file of ours.
std::optional<std::string_view> name_of_temporary(std::string_view file) {
  const std::size_t tail = kTemporary.size() + kRandomLetters;
  if (file.size() < tail + 2 || file.front() != '.') return std::nullopt;
  const std::string_view name = file.substr(1, file.size() - 1 - tail);
  const bool ours = file.substr(1 + name.size()).starts_with(kTemporary);
  return ours ? std::optional(name) : std::nullopt;
}

bool is_same_file(int descriptor, const std::string& path) {
  struct stat open_one {
  }, named{};
  return fstat(descriptor, &open_one) == 0 && lstat(path.c_str(), &named) == 0 && S_ISREG(named.st_mode) &&
         open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

// A new file, locked for as long as it is open, so that no other run takes it for a leftover. One that looks in the
// moment before the lock may have removed it: then there must be another.
Descriptor make_temporary(const std::string& folder, const std::string& name, std::string& path) {
  for (;;) {
    path = text(folder, "/.", name, kTemporary, std::string(kRandomLetters, 'X'));
    Descriptor file(mkostemp(path.data(), O_CLOEXEC));
    if (!file.open()) fail_io(folder + "/" + name, errno);
    flock(file.value(), LOCK_EX);  // a file system without locks has none to break either
    if (is_same_file(file.value(), path)) return file;
  }
}

// Where no run has it open any more.
void remove_if_abandoned(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.open() || flock(file.value(), LOCK_EX | LOCK_NB) != 0) return;
  if (is_same_file(file.value(), path)) unlink(path.c_str());
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

void remove_leftovers(const std::string& folder, const std::function<bool(std::string_view)>& is_ours) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string file = entry.path().filename().string();
    const auto name = name_of_temporary(file);
    if (name && is_ours(*name)) remove_if_abandoned(entry.path().string());
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
  if (names.empty()) return;
  remove_leftovers(path_, [&](std::string_view name) { return std::ranges::find(names, name) != names.end(); });
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
  std::string temporary;
  Descriptor file = make_temporary(path_, name, temporary);
  const int descriptor = file.value();
  const std::string target = path_ + "/" + name;
  pending_.push_back({std::move(file), temporary, target, TemporaryName(temporary)});
  fchmod(descriptor, 0644);
  FileWriter writer(descriptor, target);
  fill(writer);
  writer.flush();
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) fail_io(target, errno);
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
