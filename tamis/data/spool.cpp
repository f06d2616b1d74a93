#include "tamis/data/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "tamis/base/error.h"

namespace tamis {

namespace {

constexpr std::size_t kPiece = std::size_t{1} << 30;  // Linux reads and writes no more at a time

std::string folder() {
  const char* set = std::getenv("TMPDIR");
  return set != nullptr && *set != '\0' ? set : "/tmp";
}

[[noreturn]] void failed(const char* what) {
  fail(ErrorCode::io, folder(), ": ", what, " a temporary file: ", std::generic_category().message(errno),
       " (TMPDIR names another folder)");
}

class SpooledRows final : public RowReader {
 public:
  explicit SpooledRows(std::shared_ptr<const Spool> spool)
      : RowReader(spool->rows(), spool->cols(), DType::f64), spool_(std::move(spool)) {}

  void read(Index first, Index count, std::byte* out) const override {
    std::size_t left = static_cast<std::size_t>(count) * row_bytes();
    auto offset = static_cast<off_t>(static_cast<std::size_t>(first) * row_bytes());
    while (left > 0) {
      const ssize_t got = ::pread(spool_->descriptor(), out, std::min(left, kPiece), offset);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) failed("reading");
      out += got;
      offset += got;
      left -= static_cast<std::size_t>(got);
    }
  }

 private:
  const std::shared_ptr<const Spool> spool_;
};

}  // namespace

Spool::Spool() {
  std::string name = folder() + "/tamis-XXXXXX";
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) failed("making");
  ::unlink(name.c_str());
}

Spool::~Spool() { ::close(descriptor_); }

void Spool::add(const Matrix& rows) {
  assert(rows_ == 0 || cols_ == rows.cols());
  cols_ = rows.cols();
  const auto* at = reinterpret_cast<const char*>(rows.data());
  for (std::size_t left = static_cast<std::size_t>(rows.size()) * sizeof(double); left > 0;) {
    const ssize_t put = ::write(descriptor_, at, std::min(left, kPiece));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) failed("writing");
    at += put;
    left -= static_cast<std::size_t>(put);
  }
  rows_ += rows.rows();
}

std::shared_ptr<const RowReader> spooled_rows(std::shared_ptr<const Spool> spool) {
  return std::make_shared<SpooledRows>(std::move(spool));
}

}  // namespace tamis
