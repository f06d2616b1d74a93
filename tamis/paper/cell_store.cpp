#include "tamis/paper/cell_store.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tamis/data/formats/bytes.h"
#include "tamis/run/output.h"

namespace tamis {

namespace {

constexpr std::uint64_t kMostBytes = 256 << 20;  // no cell is nearly as large
constexpr std::string_view kEnding = ".json";
constexpr std::size_t kIdDigits = 24;

std::string name_of_cell(const PlannedCell& plan) {
  return plan.key.method + "-" + plan.id.substr(0, kIdDigits) + std::string(kEnding);
}

std::optional<std::string> cell_contents(const std::string& path) {
  if (!file_exists(path) || file_kind(path) != FileKind::regular) return std::nullopt;
  const auto stream = open_file(path, nullptr);
  const std::uint64_t size = stream->remaining().value_or(0);
  if (size > kMostBytes) return std::nullopt;
  std::string bytes(size, '\0');
  bytes.resize(stream->read_full(bytes.data(), bytes.size()));
  return bytes;
}

// Of any cell: METHOD-ID.json.
bool is_cell_name(std::string_view name) {
  const std::size_t dash = name.find('-');
  if (dash == std::string_view::npos || dash == 0 || !name.ends_with(kEnding)) return false;
  const std::string_view id = name.substr(dash + 1, name.size() - dash - 1 - kEnding.size());
  return id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

CellStore::CellStore(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  require(!error, ErrorCode::io, folder_, ": ", error.message());
  lock_ = Descriptor(open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  require(lock_.open(), ErrorCode::io, folder_, ": ", std::strerror(errno));
  const bool taken = flock(lock_.value(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  require(!taken, ErrorCode::usage, "output: another run is writing to ", folder_,
          "; wait for it or choose another folder");
  remove_leftovers(folder_, is_cell_name);
}

std::optional<Cell> CellStore::load(const PlannedCell& plan, Index features) const {
  try {
    const auto bytes = cell_contents(folder_ + "/" + name_of_cell(plan));
    return bytes ? parse_cell_file(*bytes, plan, features) : std::nullopt;
  } catch (const Error&) {  // cannot be read: to be computed, and then written again
    return std::nullopt;
  }
}

void CellStore::save(const Cell& cell) {
  const std::string contents = cell_file_text(cell);
  const std::lock_guard lock(saving_);
  OutputFolder output(folder_, {}, {});
  output.add(name_of_cell(cell.plan), [&](FileWriter& writer) { writer.write(contents); });
  output.commit();
}

}  // namespace tamis
