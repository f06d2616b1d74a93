#include "tamis/run/checkpoint.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>

#include "tamis/base/error.h"
#include "tamis/base/sha256.h"
#include "tamis/data/bytes.h"
#include "tamis/data/quote.h"
#include "tamis/run/cell_store.h"
#include "tamis/run/output.h"

namespace tamis {

namespace {

constexpr std::string_view kMagic = "tamis checkpoint 1\n";
constexpr std::size_t kDigits = 64;  // of the checksum
constexpr int kShare = 20;

// "MAGIC checksum \n key's length \n key state": what the checksum covers begins after its line.
std::string file_text(const std::string& key, const std::string& state) {
  const std::string rest = std::to_string(key.size()) + "\n" + key + state;
  return std::string(kMagic) + sha256(rest) + "\n" + rest;
}

std::string folder_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

std::string name_in_folder(const std::string& path) { return std::filesystem::path(path).filename().string(); }

std::string contents_of(const std::string& path) {
  const auto stream = open_file(path, nullptr);
  std::string bytes(static_cast<std::size_t>(stream->remaining().value_or(0)), '\0');
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
    if (a != b || more_left != more_right) return text(printable(a, 80), ", need ", printable(b, 80));
  }
}

}  // namespace

Checkpoint::Checkpoint(std::string path, std::string key) : path_(std::move(path)), key_(std::move(key)) {
  require(!name_in_folder(path_).empty() && !(file_exists(path_) && file_kind(path_) != FileKind::regular),
          ErrorCode::usage, "checkpoint = ", printable(path_, path_.size()), ", need a file");
  const OutputFolder writable(folder_of(path_), {}, {});
  remove_leftovers(folder_of(path_), name_in_folder(path_));
}

std::optional<std::string> Checkpoint::load() {
  if (!file_exists(path_)) return std::nullopt;
  const std::string where = printable(path_, path_.size()), bytes = contents_of(path_);
  require(bytes.starts_with(kMagic), ErrorCode::bad_data, where, ": not a checkpoint of tamis");
  const std::string_view all = std::string_view(bytes).substr(kMagic.size());
  const bool whole =
      all.size() > kDigits && all[kDigits] == '\n' && sha256(all.substr(kDigits + 1)) == all.substr(0, kDigits);
  require(whole, ErrorCode::bad_data, where, ": the checkpoint is damaged; without the file the run starts anew");
  const std::string_view rest = all.substr(kDigits + 1);
  const std::size_t line = rest.find('\n'), size = std::stoul(std::string(rest.substr(0, line)));
  const std::string key(rest.substr(line + 1, size));
  require(key == key_, ErrorCode::usage, where, ": the checkpoint of another run: ", difference(key, key_));
  return std::string(rest.substr(line + 1 + size));
}

void Checkpoint::save(const std::function<std::string()>& state, bool always) {
  const auto start = std::chrono::steady_clock::now();
  if (!always && start < next_) return;
  OutputFolder output(folder_of(path_), {}, {});
  output.add(name_in_folder(path_), [&](FileWriter& out) { out.write(file_text(key_, state())); });
  output.commit();
  const auto end = std::chrono::steady_clock::now();
  next_ = end + kShare * (end - start);
}

}  // namespace tamis
