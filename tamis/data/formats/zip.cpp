#include "tamis/data/formats/zip.h"

#include <zlib.h>

#include <algorithm>
#include <set>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/quote.h"

namespace tamis {
namespace {

constexpr std::uint64_t kEndSize = 22;  // end of central directory, without its comment
constexpr std::uint64_t kMostComment = 65535;
constexpr std::uint64_t kLocatorSize = 20;  // zip64 end of central directory locator
constexpr std::uint64_t kEnd64Size = 56;
constexpr std::uint64_t kCentralSize = 46;
constexpr std::uint64_t kLocalSize = 30;
constexpr std::uint64_t kMostDirectory = std::uint64_t{64} << 20;
constexpr std::size_t kDeflatedAtOnce = std::size_t{1} << 18;
constexpr std::uint64_t kMostRatio = 1032;  // deflate cannot do better (zlib's technical notes)

// Little-endian fields of a piece of the file; reading past its end is an error.
class Fields {
 public:
  Fields(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  std::uint64_t number(std::size_t size) {
    const std::string_view field = take(size);
    std::uint64_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | static_cast<unsigned char>(field[i]);
    return value;
  }
  std::string_view take(std::uint64_t size) {
    require(size <= bytes_.size(), ErrorCode::bad_data, where_, ": damaged zip directory");
    const std::string_view field = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return field;
  }
  void skip(std::uint64_t size) { take(size); }
  std::size_t left() const { return bytes_.size(); }

 private:
  std::string_view bytes_;
  const std::string& where_;
};

std::string read_piece(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t size) {
  require(offset <= bytes.size() && size <= bytes.size() - offset, ErrorCode::bad_data, bytes.where(),
          ": damaged zip archive, it points outside the file");
  std::string piece(size, '\0');
  bytes.read_at(offset, piece.data(), piece.size());
  return piece;
}

struct Directory {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t count = 0;
};

Directory find_directory(const RandomBytes& bytes) {
  const std::uint64_t tail_size = std::min(bytes.size(), kEndSize + kMostComment);
  const std::uint64_t tail_offset = bytes.size() - tail_size;
  const std::string tail = read_piece(bytes, tail_offset, tail_size);
  const std::size_t at = tail.rfind("PK\x05\x06");
  require(at != std::string::npos && tail.size() - at >= kEndSize, ErrorCode::bad_data, bytes.where(),
          ": not a zip archive, or truncated");
  Fields end(std::string_view(tail).substr(at), bytes.where());
  end.skip(10);
  Directory directory;
  directory.count = end.number(2);
  directory.size = end.number(4);
  directory.offset = end.number(4);
  const std::uint64_t end_offset = tail_offset + at;
  if (end_offset < kLocatorSize) return directory;

  const std::string locator = read_piece(bytes, end_offset - kLocatorSize, kLocatorSize);
  if (!locator.starts_with("PK\x06\x07")) return directory;
  Fields located(std::string_view(locator).substr(8), bytes.where());
  const std::string end64 = read_piece(bytes, located.number(8), kEnd64Size);
  require(end64.starts_with("PK\x06\x06"), ErrorCode::bad_data, bytes.where(), ": damaged zip64 directory");
  Fields fields(std::string_view(end64).substr(32), bytes.where());
  directory.count = fields.number(8);
  directory.size = fields.number(8);
  directory.offset = fields.number(8);
  return directory;
}

// Sizes of 2^32 - 1 stand for a value in the zip64 extra field, in this order.
void read_zip64(Fields extra, ZipEntry& entry, const std::string& where) {
  while (extra.left() >= 4) {
    const std::uint64_t tag = extra.number(2);
    Fields field(extra.take(extra.number(2)), where);
    if (tag != 1) continue;
    for (std::uint64_t* value : {&entry.size, &entry.compressed, &entry.header_offset}) {
      if (*value == 0xFFFFFFFF) *value = field.number(8);
    }
  }
}

bool is_outside(std::string_view name) {
  return name.starts_with('/') || name.find('\\') != std::string_view::npos ||
         name.find('\0') != std::string_view::npos || name == ".." || name.starts_with("../") ||
         name.ends_with("/..") || name.find("/../") != std::string_view::npos;
}

ZipEntry read_entry(Fields& directory, const std::string& where) {
  ZipEntry entry;
  require(directory.take(4) == "PK\x01\x02", ErrorCode::bad_data, where, ": damaged zip directory");
  directory.skip(4);
  entry.flags = static_cast<unsigned>(directory.number(2));
  entry.method = static_cast<unsigned>(directory.number(2));
  directory.skip(4);
  entry.crc = static_cast<std::uint32_t>(directory.number(4));
  entry.compressed = directory.number(4);
  entry.size = directory.number(4);
  const std::uint64_t name_size = directory.number(2);
  const std::uint64_t extra_size = directory.number(2);
  const std::uint64_t comment_size = directory.number(2);
  directory.skip(8);
  entry.header_offset = directory.number(4);
  entry.name = directory.take(name_size);
  read_zip64(Fields(directory.take(extra_size), where), entry, where);
  directory.skip(comment_size);
  require(!is_outside(entry.name), ErrorCode::bad_data, where, ": member ", in_quotes(entry.name),
          " points outside the archive");
  return entry;
}

// The compressed bytes of a member.
class PieceStream : public ByteStream {
 public:
  PieceStream(const RandomBytes& bytes, std::uint64_t offset, std::uint64_t size, std::string where)
      : ByteStream(std::move(where)), bytes_(bytes), offset_(offset), left_(size) {}

  std::size_t read(void* out, std::size_t size) override {
    const auto count = std::min<std::uint64_t>(size, left_);
    bytes_.read_at(offset_, out, count);
    offset_ += count;
    left_ -= count;
    return count;
  }

 private:
  const RandomBytes& bytes_;
  std::uint64_t offset_, left_;
};

// The bytes of a member: `size` of them, whose CRC is compared when the last is handed out.
class MemberStream : public ByteStream {
 public:
  MemberStream(const RandomBytes& bytes, std::uint64_t offset, const ZipEntry& entry, Context& context)
      : ByteStream(bytes.where() + ": " + printable(entry.name)),
        piece_(bytes, offset, entry.compressed, where()),
        context_(context),
        deflated_(entry.method == Z_DEFLATED),
        size_(entry.size),
        left_(entry.size),
        crc_(entry.crc),
        input_(deflated_ ? kDeflatedAtOnce : 0) {
    if (!deflated_) return;
    require(::inflateInit2(&state_, -MAX_WBITS) == Z_OK, ErrorCode::resources, where(), ": zlib has no memory");
  }
  ~MemberStream() override {
    if (deflated_) ::inflateEnd(&state_);
  }

  std::optional<std::uint64_t> remaining() const override { return left_; }

  std::size_t read(void* out, std::size_t size) override {
    constexpr std::size_t kStoredAtOnce = std::size_t{1} << 22;
    context_.check_cancelled();
    const auto wanted = std::min<std::uint64_t>({size, left_, kStoredAtOnce});
    if (wanted == 0) return 0;
    const std::size_t count = deflated_ ? inflate_some(out, wanted) : piece_.read_full(out, wanted);
    left_ -= count;
    context_.bytes_read(size_ - left_, size_);
    sum_ = static_cast<std::uint32_t>(::crc32_z(sum_, static_cast<const Bytef*>(out), count));
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    sum_ = crc_;  // a fuzzer cannot guess it, and is to reach what lies behind
#endif
    require(left_ > 0 || sum_ == crc_, ErrorCode::bad_data, where(), ": damaged, its CRC does not match");
    return count;
  }

 private:
  std::size_t inflate_some(void* out, std::size_t size) {
    state_.next_out = static_cast<Bytef*>(out);
    state_.avail_out = static_cast<uInt>(size);
    while (state_.avail_out == size) {
      if (state_.avail_in == 0) {
        state_.next_in = input_.data();
        state_.avail_in = static_cast<uInt>(piece_.read(input_.data(), input_.size()));
      }
      const int status = ::inflate(&state_, Z_NO_FLUSH);
      if (status == Z_STREAM_END && state_.avail_out < size) break;
      require(status != Z_MEM_ERROR, ErrorCode::resources, where(), ": zlib has no memory");
      require(status == Z_OK, ErrorCode::bad_data, where(), ": damaged, or shorter than it says");
    }
    return size - state_.avail_out;
  }

  PieceStream piece_;
  Context& context_;
  bool deflated_;
  const std::uint64_t size_;
  std::uint64_t left_;
  std::uint32_t crc_;
  std::uint32_t sum_ = 0;
  std::vector<Bytef> input_;
  z_stream state_ = {};
};

}  // namespace

ZipArchive::ZipArchive(std::unique_ptr<RandomBytes> bytes) : bytes_(std::move(bytes)) { read_directory(); }

void ZipArchive::read_directory() {
  const Directory found = find_directory(*bytes_);
  require(found.size <= kMostDirectory && found.count <= found.size / kCentralSize, ErrorCode::bad_data, where(),
          ": damaged zip directory (", found.count, " members in ", found.size, " bytes)");
  const std::string directory = read_piece(*bytes_, found.offset, found.size);
  Fields fields(directory, where());
  std::set<std::string_view> names;
  entries_.reserve(found.count);
  for (std::uint64_t i = 0; i < found.count; ++i) {
    entries_.push_back(read_entry(fields, where()));
    require(names.insert(entries_.back().name).second, ErrorCode::bad_data, where(), ": two members named ",
            in_quotes(entries_.back().name));
  }
}

const ZipEntry* ZipArchive::find(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.name == name; });
  return found == entries_.end() ? nullptr : &*found;
}

std::unique_ptr<ByteStream> ZipArchive::open(const ZipEntry& entry, Context& context) const {
  const std::string member = where() + ": " + printable(entry.name);
  require((entry.flags & 1) == 0, ErrorCode::bad_data, member, ": encrypted, need a plain member");
  require(entry.method == 0 || entry.method == Z_DEFLATED, ErrorCode::bad_data, member, ": compression method ",
          entry.method, ", need 0 (stored) or 8 (deflate)");
  require(entry.method != 0 || entry.size == entry.compressed, ErrorCode::bad_data, member, ": stored ",
          entry.compressed, " bytes for ", entry.size);
  const std::string local = read_piece(*bytes_, entry.header_offset, kLocalSize);
  require(local.starts_with("PK\x03\x04"), ErrorCode::bad_data, member, ": damaged zip archive, no member here");
  Fields sizes(std::string_view(local).substr(26), where());
  const std::uint64_t offset = entry.header_offset + kLocalSize + sizes.number(2) + sizes.number(2);
  require(offset <= bytes_->size() && entry.compressed <= bytes_->size() - offset, ErrorCode::bad_data, member,
          ": truncated, ", entry.compressed, " bytes promised");
  require(entry.size / kMostRatio <= entry.compressed, ErrorCode::bad_data, member, ": says that ", entry.compressed,
          " bytes inflate to ", entry.size, ", which cannot be");
  require_memory(context, member, entry.size);
  return std::make_unique<MemberStream>(*bytes_, offset, entry, context);
}

}  // namespace tamis
