#include "tamis/data/formats/bytes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

#include "tamis/base/descriptor.h"
#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/quote.h"

namespace tamis {
namespace {

// One system call reads at most this much, so that cancellation is noticed.
constexpr std::size_t kPiece = std::size_t{64} << 20;
constexpr int kPollMilliseconds = 100;
constexpr std::uint64_t kWorthShowing = std::uint64_t{1} << 20;  // a small list is read in a moment
constexpr std::chrono::seconds kWriterPatience{5};

std::string reason(int error) { return std::generic_category().message(error); }

Descriptor open_or_fail(const std::string& path, const std::string& where) {
  // Not blocking: a named pipe that nobody writes to must not hang here.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  require(file.open(), ErrorCode::io, where, ": ", reason(errno));
  return file;
}

FileKind kind_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return FileKind::regular;
  if (S_ISFIFO(status.st_mode)) return FileKind::pipe;
  return S_ISDIR(status.st_mode) ? FileKind::folder : FileKind::other;
}

void read_exactly_at(int fd, const std::string& where, std::uint64_t offset, void* out, std::size_t count) {
  auto* to = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(fd, to, std::min(count, kPiece), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    require(got >= 0, ErrorCode::io, where, ": ", reason(errno));
    require(got > 0, ErrorCode::bad_data, where, ": ends early, at byte ", offset);
    to += got;
    offset += static_cast<std::uint64_t>(got);
    count -= got;
  }
}

class FileStream : public ByteStream {
 public:
  // Without a file of its own: standard input.
  FileStream(std::string where, Descriptor own, Context* context)
      : ByteStream(std::move(where)),
        own_(std::move(own)),
        fd_(own_.open() ? own_.value() : STDIN_FILENO),
        opened_here_(own_.open()),
        context_(context) {
    struct stat status {};
    require(::fstat(fd_, &status) == 0, ErrorCode::io, this->where(), ": ", reason(errno));
    const FileKind kind = kind_of(status);
    regular_ = kind == FileKind::regular;
    if (opened_here_) {
      require(regular_ || kind == FileKind::pipe, ErrorCode::bad_data, this->where(), ": neither a file nor a pipe");
    }
    if (!regular_) return;
    const off_t position = std::max<off_t>(::lseek(fd_, 0, SEEK_CUR), 0);
    whole_ = left_ = static_cast<std::uint64_t>(std::max<off_t>(status.st_size - position, 0));
  }

  std::size_t read(void* out, std::size_t size) override {
    if (size == 0) return 0;
    for (;;) {
      if (context_ != nullptr) context_->check_cancelled();
      if (!regular_ && !wait()) continue;
      const ssize_t count = ::read(fd_, out, std::min(size, kPiece));
      if (count > 0) return took(count);
      if (count == 0) {
        if (regular_ || !nobody_wrote()) return 0;
        continue;
      }
      if (errno == EAGAIN) started_ = true;  // somebody has the other end open
      require(errno == EINTR || errno == EAGAIN, ErrorCode::io, where(), ": ", reason(errno));
    }
  }

  // Large pieces of a file are read by all threads: most of the time goes into the memory's pages.
  std::size_t read_full(void* out, std::size_t size) override {
    constexpr std::size_t kShare = std::size_t{8} << 20;
    if (!regular_ || context_ == nullptr || context_->threads() < 2 || size < 4 * kShare || size > left_) {
      return ByteStream::read_full(out, size);
    }
    const off_t start = ::lseek(fd_, 0, SEEK_CUR);
    require(start >= 0, ErrorCode::io, where(), ": ", reason(errno));
    std::atomic<std::uint64_t> shared = 0;
    context_->pool().run(static_cast<Index>((size + kShare - 1) / kShare), [&](Index share) {
      const std::size_t offset = share * kShare;
      const std::size_t count = std::min(kShare, size - offset);
      read_exactly_at(fd_, where(), static_cast<std::uint64_t>(start) + offset, static_cast<char*>(out) + offset,
                      count);
      context_->bytes_read(done_ + (shared += count), whole_);
    });
    context_->check_cancelled();
    ::lseek(fd_, start + static_cast<off_t>(size), SEEK_SET);
    return took(size);
  }

  std::shared_ptr<const void> map(std::size_t size, std::size_t alignment) override {
    const off_t start = regular_ ? ::lseek(fd_, 0, SEEK_CUR) : -1;
    if (start < 0 || static_cast<std::size_t>(start) % alignment != 0 || size != left_) return nullptr;
    const std::size_t whole = static_cast<std::size_t>(start) + size;
    void* base = ::mmap(nullptr, whole, PROT_READ, MAP_PRIVATE, fd_, 0);
    if (base == MAP_FAILED) return nullptr;
    const std::shared_ptr<const void> owner(base, [whole](const void* at) { ::munmap(const_cast<void*>(at), whole); });
    page_in(static_cast<char*>(base), whole);
    ::lseek(fd_, 0, SEEK_END);
    took(size);
    return {owner, static_cast<const char*>(base) + start};
  }

  std::optional<std::uint64_t> remaining() const override {
    return regular_ ? std::optional<std::uint64_t>(left_) : std::nullopt;
  }

 private:
  std::size_t took(std::size_t count) {
    started_ = true;
    left_ -= std::min<std::uint64_t>(left_, count);
    done_ += count;
    if (context_ != nullptr && done_ >= kWorthShowing) context_->bytes_read(done_, whole_);
    return count;
  }

  // Piece by piece, so that it can be stopped. What cannot be paged in is found out by whoever reads it.
  void page_in(char* base, std::size_t size) const {
    for (std::size_t at = 0; at < size; at += kPiece) {
      const std::size_t count = std::min(kPiece, size - at);
      if (::madvise(base + at, count, MADV_POPULATE_READ) != 0) return;
      if (context_ != nullptr) context_->bytes_read(at + count, size);
    }
  }

  // True when a read would not block. Standard input blocks, hence the poll before every read.
  bool wait() {
    struct pollfd waited = {fd_, POLLIN, 0};
    const int ready = ::poll(&waited, 1, started_ || !opened_here_ ? kPollMilliseconds : 0);
    require(ready >= 0 || errno == EINTR, ErrorCode::io, where(), ": ", reason(errno));
    if (ready > 0 && (waited.revents & POLLHUP) != 0) started_ = true;
    return ready > 0 || (opened_here_ && !started_);
  }

  // An end of file before the first byte of a named pipe: perhaps its writer has not come yet. Waits a little.
  bool nobody_wrote() {
    if (started_ || !opened_here_) return false;
    require(std::chrono::steady_clock::now() - opened_ < kWriterPatience, ErrorCode::io, where(),
            ": nobody writes to this pipe");
    ::poll(nullptr, 0, kPollMilliseconds);
    return true;
  }

  const Descriptor own_;
  const int fd_;
  const bool opened_here_;  // and so not blocking
  Context* context_;
  bool regular_ = false;
  bool started_ = false;  // a writer was there
  std::uint64_t left_ = 0, done_ = 0;
  std::uint64_t whole_ = 0;  // of a pipe nobody knows
  std::chrono::steady_clock::time_point opened_ = std::chrono::steady_clock::now();
};

class MemoryStream : public ByteStream {
 public:
  MemoryStream(std::string_view bytes, const std::string& where) : ByteStream(where), bytes_(bytes) {}

  std::size_t read(void* out, std::size_t size) override {
    const std::size_t count = std::min(size, bytes_.size());
    if (count > 0) std::memcpy(out, bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }

  std::optional<std::uint64_t> remaining() const override { return bytes_.size(); }

 private:
  std::string_view bytes_;
};

class RandomFile : public RandomBytes {
 public:
  RandomFile(const std::string& path, std::string where)
      : RandomBytes(std::move(where)), own_(open_or_fail(path, this->where())), fd_(own_.value()) {
    struct stat status {};
    require(::fstat(fd_, &status) == 0, ErrorCode::io, this->where(), ": ", reason(errno));
    require(kind_of(status) == FileKind::regular, ErrorCode::bad_data, this->where(), ": not a regular file");
    size_ = static_cast<std::uint64_t>(status.st_size);
  }

  std::uint64_t size() const override { return size_; }

  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    read_exactly_at(fd_, where(), offset, out, count);
  }

  void expect(std::uint64_t offset, std::size_t count) const override { announce_reading(fd_, offset, count); }

 private:
  const Descriptor own_;
  const int fd_;
  std::uint64_t size_ = 0;
};

class RandomMemory : public RandomBytes {
 public:
  RandomMemory(std::string_view bytes, const std::string& where) : RandomBytes(where), bytes_(bytes) {}

  std::uint64_t size() const override { return bytes_.size(); }

  void read_at(std::uint64_t offset, void* out, std::size_t count) const override {
    require(offset <= bytes_.size() && count <= bytes_.size() - offset, ErrorCode::bad_data, where(),
            ": ends early, at byte ", bytes_.size());
    if (count > 0) std::memcpy(out, bytes_.data() + offset, count);
  }

 private:
  std::string_view bytes_;
};

}  // namespace

std::shared_ptr<const void> ByteStream::map(std::size_t, std::size_t) { return nullptr; }

std::size_t ByteStream::read_full(void* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const std::size_t count = read(static_cast<char*>(out) + done, size - done);
    if (count == 0) break;
    done += count;
  }
  return done;
}

std::unique_ptr<ByteStream> open_memory(std::string_view bytes, const std::string& where) {
  return std::make_unique<MemoryStream>(bytes, where);
}

std::unique_ptr<ByteStream> open_file(const std::string& path, Context* context) {
  const std::string where = printable(path, path.size());
  return std::make_unique<FileStream>(where, open_or_fail(path, where), context);
}

std::unique_ptr<ByteStream> open_standard_input(Context* context) {
  return std::make_unique<FileStream>("standard input", Descriptor(), context);
}

std::unique_ptr<ByteStream> open_text(const std::string& path, Context& context) {
  auto file = open_file(path, &context);
  if (!path.ends_with(".gz") && !path.ends_with(".GZ")) return file;
  const std::uint64_t budget = memory_budget(context);
  return open_gzip(std::move(file), budget > UINT64_MAX / kTextFactor ? UINT64_MAX : budget * kTextFactor);
}

std::string read_whole(const std::string& path, Context& context) {
  Budget budget(context, printable(path, path.size()));
  return read_whole(path, budget, context);
}

std::string read_whole(const std::string& path, Budget& budget, Context& context) {
  return read_whole(*open_text(path, context), budget);
}

std::string read_whole(ByteStream& bytes, Budget& budget) {
  std::string content;
  for (std::size_t got = 1; got > 0;) {
    constexpr std::size_t kStep = 1 << 16;
    grow(content, kStep, budget);
    const std::size_t before = content.size();
    content.resize(before + kStep);
    got = bytes.read(content.data() + before, kStep);
    content.resize(before + got);
  }
  return content;
}

std::unique_ptr<RandomBytes> open_random_file(const std::string& path) {
  return std::make_unique<RandomFile>(path, printable(path, path.size()));
}

std::unique_ptr<RandomBytes> open_random_memory(std::string_view bytes, const std::string& where) {
  return std::make_unique<RandomMemory>(bytes, where);
}

FileKind file_kind(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) fail(ErrorCode::io, printable(path, path.size()), ": ", reason(errno));
  return kind_of(status);
}

bool file_exists(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

}  // namespace tamis
