// Where a reader's bytes come from: a file, a pipe, memory, or the inflation of another stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/base/context.h"
#include "tamis/base/memory.h"

namespace tamis {

class ByteStream {
 public:
  explicit ByteStream(std::string where) : where_(std::move(where)) {}
  virtual ~ByteStream() = default;
  ByteStream(const ByteStream&) = delete;
  ByteStream& operator=(const ByteStream&) = delete;

  // The path as it stands at the beginning of messages.
  const std::string& where() const { return where_; }

  // Reads up to `size` bytes; 0 only at the end.
  virtual std::size_t read(void* out, std::size_t size) = 0;
  // How many bytes are still to come, where that is known beforehand.
  virtual std::optional<std::uint64_t> remaining() const { return std::nullopt; }

  // The next `size` bytes mapped in place of a read, where they can be (a file) and the address is a multiple of
  // `alignment`; null otherwise. The file shortened later raises SIGBUS.
  virtual std::shared_ptr<const void> map(std::size_t size, std::size_t alignment);

  // Reads until `size` bytes are there or the end is; returns how many.
  virtual std::size_t read_full(void* out, std::size_t size);

 private:
  std::string where_;
};

// Bytes in memory that somebody else owns.
std::unique_ptr<ByteStream> open_memory(std::string_view bytes, const std::string& where);

// A file, or a pipe by its name; Error(io) where it cannot be read, Error(bad_data) where it is neither.
// `context` (may be null) is asked about cancellation between pieces.
std::unique_ptr<ByteStream> open_file(const std::string& path, Context* context);
std::unique_ptr<ByteStream> open_standard_input(Context* context);

// The inflation of a gzip stream (also of several, one after the other). Error(bad_data) where it is damaged,
// Error(resources) as soon as more than `limit` bytes come out.
std::unique_ptr<ByteStream> open_gzip(std::unique_ptr<ByteStream> compressed, std::uint64_t limit);

// open_file, through open_gzip where the name ends in .gz. The text of a table may well be larger than its
// numbers, and is never held in memory as a whole: it may inflate to kTextFactor times the memory budget.
std::unique_ptr<ByteStream> open_text(const std::string& path, Context& context);
inline constexpr std::uint64_t kTextFactor = 4;
// All of it, once, since a pipe cannot be read again.
std::string read_whole(const std::string& path, Context& context);
std::string read_whole(const std::string& path, Budget& budget, Context& context);
std::string read_whole(ByteStream& bytes, Budget& budget);

// Bytes at any position, for archives.
class RandomBytes {
 public:
  explicit RandomBytes(std::string where) : where_(std::move(where)) {}
  virtual ~RandomBytes() = default;
  RandomBytes(const RandomBytes&) = delete;
  RandomBytes& operator=(const RandomBytes&) = delete;

  const std::string& where() const { return where_; }
  virtual std::uint64_t size() const = 0;
  // Reads exactly `count` bytes at `offset`; Error(bad_data) where they are not there.
  virtual void read_at(std::uint64_t offset, void* out, std::size_t count) const = 0;
  // Says that they will be read soon.
  virtual void expect(std::uint64_t, std::size_t) const {}

 private:
  std::string where_;
};

std::unique_ptr<RandomBytes> open_random_file(const std::string& path);
std::unique_ptr<RandomBytes> open_random_memory(std::string_view bytes, const std::string& where);

enum class FileKind { regular, pipe, folder, other };
// Error(io) where there is no such file.
FileKind file_kind(const std::string& path);
bool file_exists(const std::string& path);

}  // namespace tamis
