#include "tamis/run/cell_store.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "tamis/data/bytes.h"
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
  std::string bytes(static_cast<std::size_t>(size), '\0');
  bytes.resize(stream->read_full(bytes.data(), bytes.size()));
  return bytes;
}

// ".NAME.XXXXXX" as mkostemp leaves it.
bool is_leftover(const std::string& file, std::string_view name) {
  constexpr std::size_t kRandom = 7;  // a point and six letters
  return file.size() > kRandom + 1 && file.front() == '.' &&
         std::string_view(file).substr(1, file.size() - 1 - kRandom).ends_with(name) &&
         file[file.size() - kRandom] == '.';
}

}  // namespace

void remove_leftovers(const std::string& folder, const std::string& name) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (is_leftover(entry.path().filename().string(), name)) std::filesystem::remove(entry.path(), ignored);
  }
}

CellStore::CellStore(std::string folder) : folder_(std::move(folder)) {
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  require(!error, ErrorCode::io, folder_, ": ", error.message());
  lock_ = open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require(lock_ >= 0, ErrorCode::io, folder_, ": ", std::strerror(errno));
  if (flock(lock_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(lock_);
    fail(ErrorCode::usage, "output: another run is writing to ", folder_, ", need another folder or its end");
  }
  remove_leftovers(folder_, std::string(kEnding));
}

CellStore::~CellStore() { close(lock_); }

std::optional<Cell> CellStore::load(const PlannedCell& plan, Index features) const {
  try {
    const auto bytes = cell_contents(folder_ + "/" + name_of_cell(plan));
    return bytes ? parse_cell_file(*bytes, plan, features) : std::nullopt;
  } catch (const Error&) {  // cannot be read: to be computed, and then written anew
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
