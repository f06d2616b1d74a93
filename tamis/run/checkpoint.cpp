#include "tamis/run/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "tamis/base/error.h"
#include "tamis/base/sha256.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/run/output.h"

namespace tamis {

namespace {

constexpr std::string_view kMagic = "tamis checkpoint 1\n";
constexpr std::size_t kDigits = 64;  // of the checksum
constexpr int kShare = 20;

std::string folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string name_in_folder(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string contents_of(const std::string& path) {
  const auto stream = open_file(path, nullptr);
  std::string bytes(stream->remaining().value_or(0), '\0');
  bytes.resize(stream->read_full(bytes.data(), bytes.size()));
  return bytes;
}

// The first line of one key that the other has not.
std::string difference(const std::string& theirs, const std::string& ours) {
  std::istringstream left(theirs), right(ours);
  std::string a, b;
  while (true) {
    const bool more_left = static_cast<bool>(std::getline(left, a));
    const bool more_right = static_cast<bool>(std::getline(right, b));
    if (!more_left && !more_right) return "nothing";
    if (a != b || more_left != more_right) return concat(printable(a, 80), ", need ", printable(b, 80));
  }
}

}  // namespace

Checkpoint::Checkpoint(std::string path, std::string key) : path_(std::move(path)), key_(std::move(key)) {
  require(!name_in_folder(path_).empty() && !(file_exists(path_) && file_kind(path_) != FileKind::regular),
          ErrorCode::usage, OptionName{"checkpoint"}, " = ", printable(path_, path_.size()), ", need a file");
  require(name_in_folder(path_) != kJournal, ErrorCode::usage, OptionName{"checkpoint"}, " = ",
          printable(path_, path_.size()), ": the name of a file of tamis, need another");
  const OutputFolder writable(folder_of(path_), {}, {});
  remove_leftovers(folder_of(path_), [&](std::string_view name) { return name == name_in_folder(path_); });
}

std::string Checkpoint::where() const { return printable(path_, path_.size()); }

std::optional<std::string> Checkpoint::load() {
  if (!file_exists(path_)) return std::nullopt;
  return checkpoint_state(contents_of(path_), key_, where());
}

void Checkpoint::save(const std::function<std::string()>& state, bool always) {
  const auto start = std::chrono::steady_clock::now();
  if (!always && start < next_) return;
  OutputFolder output(folder_of(path_), {}, {});
  output.add(name_in_folder(path_), [&](FileWriter& out) { out.write(checkpoint_bytes(key_, state())); });
  output.commit();
  const auto end = std::chrono::steady_clock::now();
  next_ = end + kShare * (end - start);
}

// "MAGIC checksum \n key's length \n key state": what the checksum covers begins after its line.
std::string checkpoint_bytes(const std::string& key, const std::string& state) {
  const std::string rest = std::to_string(key.size()) + "\n" + key + state;
  return std::string(kMagic) + sha256(rest) + "\n" + rest;
}

std::string checkpoint_state(std::string_view bytes, const std::string& key, const std::string& where) {
  require(bytes.starts_with(kMagic), ErrorCode::bad_data, where, ": not a checkpoint of tamis");
  const std::string_view all = bytes.substr(kMagic.size());
  const std::string_view sum = all.substr(0, kDigits), rest = all.substr(std::min(all.size(), kDigits + 1));
  const std::size_t line = rest.find('\n');
  Index size = 0;
  const bool whole = all.size() > kDigits && all[kDigits] == '\n' && sha256(rest) == sum &&
                     line != std::string_view::npos && parse_index(rest.substr(0, line), size) && size >= 0 &&
                     static_cast<std::size_t>(size) <= rest.size() - line - 1;
  require(whole, ErrorCode::bad_data, where, ": the checkpoint is damaged; delete the file to start over");
  const std::string_view theirs = rest.substr(line + 1, size);
  require(theirs == key, ErrorCode::usage, where,
          ": the checkpoint of another run: ", difference(std::string(theirs), key));
  return std::string(rest.substr(line + 1 + theirs.size()));
}

}  // namespace tamis
