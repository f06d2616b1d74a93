// The gzip stream of bytes.h (RFC 1952), inflated by zlib.
#include <zlib.h>

#include <algorithm>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/data/formats/bytes.h"

namespace tamis {
namespace {

constexpr std::size_t kGzipAtOnce = std::size_t{1} << 18;
constexpr int kGzipWindow = 15 + 16;  // the largest window; gzip headers and trailers checked by zlib

class GzipStream : public ByteStream {
 public:
  GzipStream(std::unique_ptr<ByteStream> compressed, std::uint64_t limit)
      : ByteStream(compressed->where()), compressed_(std::move(compressed)), limit_(limit), input_(kGzipAtOnce) {
    require(::inflateInit2(&state_, kGzipWindow) == Z_OK, ErrorCode::resources, where(), ": zlib has no memory");
  }
  ~GzipStream() override { ::inflateEnd(&state_); }

  std::size_t read(void* out, std::size_t size) override {
    constexpr std::size_t kMost = std::size_t{1} << 30;  // zlib counts in 32 bits
    state_.next_out = static_cast<Bytef*>(out);
    state_.avail_out = static_cast<uInt>(std::min(size, kMost));
    const uInt wanted = state_.avail_out;
    while (state_.avail_out == wanted && wanted > 0 && next_member()) inflate_some();
    const std::size_t count = wanted - state_.avail_out;
    total_ += count;
    require(total_ <= limit_, ErrorCode::resources, where(), ": inflates to more than ", limit_,
            " bytes, the most that the memory limit allows");
    return count;
  }

 private:
  // Sees to it that there is input within a member; false at the end of the last member.
  bool next_member() {
    if (state_.avail_in == 0) refill();
    if (!between_) return true;
    if (members_ > 0) skip_padding();
    if (state_.avail_in == 0) {
      require(members_ > 0, ErrorCode::bad_data, where(), ": empty, need a gzip stream");
      return false;
    }
    ::inflateReset(&state_);
    between_ = false;
    return true;
  }

  // Zero bytes may follow a member (tapes, block devices).
  void skip_padding() {
    for (;;) {
      while (state_.avail_in > 0 && *state_.next_in == 0) {
        ++state_.next_in;
        --state_.avail_in;
      }
      if (state_.avail_in > 0) return;
      refill();
      if (state_.avail_in == 0) return;
    }
  }

  void refill() {
    state_.next_in = input_.data();
    state_.avail_in = static_cast<uInt>(compressed_->read(input_.data(), input_.size()));
  }

  void inflate_some() {
    const bool starved = state_.avail_in == 0;
    const int status = ::inflate(&state_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      between_ = true;
      ++members_;
      return;
    }
    require(status != Z_MEM_ERROR, ErrorCode::resources, where(), ": zlib has no memory");
    require(!starved || status != Z_BUF_ERROR, ErrorCode::bad_data, where(), ": the gzip stream ends early");
    require(status == Z_OK || status == Z_BUF_ERROR, ErrorCode::bad_data, where(), ": not a valid gzip stream (",
            state_.msg != nullptr ? state_.msg : "damaged", ")");
  }

  std::unique_ptr<ByteStream> compressed_;
  std::uint64_t limit_;
  std::vector<Bytef> input_;
  z_stream state_ = {};
  bool between_ = true;
  std::uint64_t members_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace

std::unique_ptr<ByteStream> open_gzip(std::unique_ptr<ByteStream> compressed, std::uint64_t limit) {
  return std::make_unique<GzipStream>(std::move(compressed), limit);
}

}  // namespace tamis
