// Reading members of a zip archive (also zip64): stored or deflated, sizes checked before anything is inflated,
// CRC checked after. Nothing is ever written.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/formats/bytes.h"

namespace tamis {

struct ZipEntry {
  std::string name;
  unsigned flags = 0;
  unsigned method = 0;
  std::uint32_t crc = 0;
  std::uint64_t compressed = 0;
  std::uint64_t size = 0;
  std::uint64_t header_offset = 0;
};

class ZipArchive {
 public:
  // Reads the central directory; Error(bad_data) where it is damaged, or names a path outside the archive.
  explicit ZipArchive(std::unique_ptr<RandomBytes> bytes);

  const std::string& where() const { return bytes_->where(); }
  const std::vector<ZipEntry>& entries() const { return entries_; }
  const ZipEntry* find(std::string_view name) const;
  // Error(resources) where the member says it is larger than the memory limit.
  std::unique_ptr<ByteStream> open(const ZipEntry& entry, Context& context) const;

 private:
  void read_directory();

  std::unique_ptr<RandomBytes> bytes_;
  std::vector<ZipEntry> entries_;
};

}  // namespace tamis
