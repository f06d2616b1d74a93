#include "tamis/run/output.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <new>
#include <sstream>
#include <system_error>
#include <thread>

#include "tamis/base/error.h"
#include "tamis/run/features.h"

namespace tamis {

namespace {

constexpr std::size_t kPiece = 1 << 20;

[[noreturn]] void fail_io(const std::string& path, int error) { fail(ErrorCode::io, path, ": ", std::strerror(error)); }

// The nearest folder above that exists: what must be writable for the rest to be made.
std::string existing_parent(const std::string& path) {
  std::error_code gone, ignored;
  std::filesystem::path parent = std::filesystem::absolute(path, gone);
  if (gone == std::errc::not_enough_memory) throw std::bad_alloc();
  require(!gone, ErrorCode::io, "output: ", path, ": the working folder no longer exists");
  while (!std::filesystem::exists(parent, ignored) && parent.has_relative_path()) {
    require(!std::filesystem::is_symlink(parent, ignored), ErrorCode::usage, "output: ", parent.string(),
            " is a symbolic link to a place that does not exist");
    parent = parent.parent_path();
  }
  return parent.string();
}

void flush_folder(const std::string& path) {
  const Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a folder; the files themselves are safe by then.
  if (folder.open()) fsync(folder.value());
}

// A new folder's own name, and the folder that it will be in.
std::pair<std::string, std::string> parent_and_name(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const std::filesystem::path whole(path);
  const std::string parent = whole.parent_path().string();
  return {parent.empty() ? "." : parent, whole.filename().string()};
}

bool is_absent(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 && errno == ENOENT;
}

// --- Whose files they are ------------------------------------------------------------------------------------------

std::string beginning(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) fail_io(path, errno);
  std::string head(4096, '\0');
  const ssize_t got = ::read(file.value(), head.data(), head.size());
  if (got < 0) fail_io(path, errno);
  head.resize(got);
  return head;
}

bool begins_as_ours(const std::string& path) {
  const std::string head = beginning(path);
  if (path.ends_with(".json")) return head.starts_with("{\"tamis\": ");
  if (path.ends_with(".html")) return head.find("name=\"generator\" content=\"tamis ") != std::string::npos;
  if (path.ends_with("/clusters.csv")) return head.starts_with(kClustersHeader);
  return head.starts_with(kRankingHeader);
}

// The document that is written beside a table.
std::string document_among(const std::vector<std::string>& names) {
  const auto found = std::find_if(names.begin(), names.end(), [](const auto& name) { return name.ends_with(".json"); });
  return found == names.end() ? "selection.json" : *found;
}

// Refuses to replace a file of `names` that a run of the same command did not write. A reduced table may look like
// anybody's: it is ours beside a document of ours.
void require_ours(const std::string& folder, const std::string& name, const std::vector<std::string>& names) {
  const std::string path = folder + "/" + name;
  const bool table = name.starts_with("selected.");
  const bool checked =
      table || name == "ranking.csv" || name == "clusters.csv" || name.ends_with(".json") || name.ends_with(".html");
  if (!checked || is_absent(path)) return;
  require(begins_as_ours(table ? folder + "/" + document_among(names) : path), ErrorCode::usage, "output: ", path,
          " was not written by tamis with this command; choose another folder (-o DIR)");
}

// --- The commit of several files ------------------------------------------------------------------------------------

constexpr std::string_view kJournalHead = "tamis commit 1\n";
constexpr std::size_t kMostJournal = 1 << 16;

// Held by one committing run at a time; there is none on file systems without locks.
Descriptor lock_folder(const std::string& path) {
  constexpr auto kPatience = std::chrono::seconds(20);  // a commit takes milliseconds
  constexpr auto kPause = std::chrono::milliseconds(5);
  Descriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (folder.open() && flock(folder.value(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    require(std::chrono::steady_clock::now() < end, ErrorCode::io, path, ": another run is writing to this folder");
    std::this_thread::sleep_for(kPause);
  }
  return folder;
}

std::string journal_of(const std::string& folder) { return concat(folder, "/", kJournal); }

// The temporary files that a journal names; nothing where there is none.
std::vector<std::string> read_journal(const std::string& folder) {
  const std::string path = journal_of(folder);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.open() && errno == ENOENT) return {};
  std::string bytes(kMostJournal, '\0');
  const ssize_t size = file.open() ? read(file.value(), bytes.data(), bytes.size()) : -1;
  if (size < 0) fail_io(path, errno);
  bytes.resize(size);
  std::vector<std::string> names;
  bool ours = bytes.starts_with(kJournalHead);
  std::istringstream lines(ours ? bytes.substr(kJournalHead.size()) : "");
  for (std::string line; ours && std::getline(lines, line); names.push_back(line)) {
    ours = name_of_temporary(line).has_value() && line.find('/') == std::string::npos;
  }
  require(ours && !names.empty(), ErrorCode::usage, "output: ", path,
          " was not written by tamis; remove it or choose another folder");
  return names;
}

// Twice, since what is committed ought not to fail for a passing error.
void rename_committed(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0 || errno == ENOENT) return;  // not there any more: renamed already
  if (rename(from.c_str(), to.c_str()) == 0) return;
  fail(ErrorCode::io, to, ": ", std::strerror(errno), "; the next run with this folder completes the result");
}

// What is left to do once the journal is there. It needs no memory, since nothing may stop it then.
struct Commit {
  std::string folder, journal;
  std::vector<std::pair<std::string, std::string>> renames;
};

Commit commit_of(const std::string& folder, const std::vector<std::string>& temporaries) {
  Commit out{folder, journal_of(folder), {}};
  for (const auto& file : temporaries) {
    out.renames.emplace_back(folder + "/" + file, concat(folder, "/", *name_of_temporary(file)));
  }
  return out;
}

// Under the lock. It may have been begun.
void complete(const Commit& commit) {
  if (commit.renames.empty()) return;
  for (const auto& [from, to] : commit.renames) rename_committed(from, to);
  flush_folder(commit.folder);
  unlink(commit.journal.c_str());
}

// A file that is replaced keeps its permissions.
void keep_mode_of(const std::string& target, int descriptor) {
  constexpr mode_t kPermissions = 0777;
  struct stat there {};
  if (lstat(target.c_str(), &there) == 0 && S_ISREG(there.st_mode)) fchmod(descriptor, there.st_mode & kPermissions);
}

}  // namespace

void complete_result(const std::string& folder) {
  struct stat journal {};
  if (lstat(journal_of(folder).c_str(), &journal) != 0) return;
  const Descriptor lock = lock_folder(folder);
  complete(commit_of(folder, read_journal(folder)));
}

void complete_result_of(const std::string& file) { complete_result(parent_and_name(file).first); }

void write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail_io(path, errno);
    bytes.remove_prefix(written);
  }
}

void FileWriter::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kPiece) flush();
}

void FileWriter::flush() {
  write_all(descriptor_, buffer_, path_);
  buffer_.clear();
}

OutputFolder::OutputFolder(std::string path, const std::vector<std::string>& names,
                           const std::vector<std::string>& inputs)
    : path_(std::move(path)) {
  require(!path_.empty(), ErrorCode::usage, "output: empty name; -o needs a folder");
  struct stat folder {};
  if (stat(path_.c_str(), &folder) == 0) {
    require(S_ISDIR(folder.st_mode), ErrorCode::usage, "output: ", path_, " is a file; -o needs a folder");
  }
  const std::string parent = existing_parent(path_);
  struct stat above {};
  if (stat(parent.c_str(), &above) == 0) {
    require(S_ISDIR(above.st_mode), ErrorCode::usage, "output: ", parent, " is a file; -o needs a folder");
  }
  if (access(parent.c_str(), W_OK) != 0) fail_io(parent, errno);
  for (const auto& name : names) {
    const std::string target = path_ + "/" + name;
    struct stat there {};
    if (stat(target.c_str(), &there) != 0) continue;
    require(!S_ISDIR(there.st_mode), ErrorCode::usage, "output: ", target,
            " is a folder; the result needs a file of that name");
    for (const auto& input : inputs) {
      struct stat in {};
      const bool same = stat(input.c_str(), &in) == 0 && in.st_dev == there.st_dev && in.st_ino == there.st_ino;
      require(!same, ErrorCode::usage, "output: ", target, " is the input ", input, "; choose another folder");
    }
  }
  if (names.empty()) return;
  const auto is_ours = [&](std::string_view name) {
    return name == kJournal || std::ranges::find(names, name) != names.end();
  };
  const auto [place, own_name] = parent_and_name(path_);
  remove_left_folders(place, own_name, is_ours);
  if (is_absent(path_)) return;
  const Descriptor lock = lock_folder(path_);
  complete(commit_of(path_, read_journal(path_)));
  for (const auto& name : names) require_ours(path_, name, names);
  remove_leftovers(path_, is_ours);
}

OutputFolder::~OutputFolder() {
  for (const auto& one : pending_) unlink(one.file.path.c_str());
  if (stage_) rmdir(stage_->path.c_str());
}

void OutputFolder::make_folder() {
  if (stage_ || !is_absent(path_)) return;
  const auto [parent, name] = parent_and_name(path_);
  const bool plain = name != "." && name != "..";
  std::error_code error;
  std::filesystem::create_directories(plain ? parent : path_, error);
  if (error) fail_io(path_, error.value());
  if (plain) stage_ = make_temporary_folder(parent, name);
}

void OutputFolder::add(const std::string& name, const std::function<void(FileWriter&)>& fill) {
  make_folder();
  pending_.emplace_back().name = name;  // first, so that a file that is there is always known
  pending_.back().file = make_temporary_file(stage_ ? stage_->path : path_, name);
  const int descriptor = pending_.back().file.open.value();
  const std::string target = path_ + "/" + name;
  keep_mode_of(target, descriptor);
  FileWriter writer(descriptor, target);
  fill(writer);
  writer.flush();
  if (fsync(descriptor) != 0 && errno != EINVAL && errno != EROFS) fail_io(target, errno);
}

// False where another run has made the folder meanwhile: then the files are in it, under temporary names.
bool OutputFolder::commit_new_folder() {
  const auto move = [](Pending& one, std::string to) {
    if (rename(one.file.path.c_str(), to.c_str()) != 0) fail_io(to, errno);
    one.file.path = std::move(to);
    one.file.noted = TemporaryName(one.file.path);
  };
  for (auto& one : pending_) move(one, stage_->path + "/" + one.name);
  flush_folder(stage_->path);
  const bool renamed = rename(stage_->path.c_str(), path_.c_str()) == 0;
  if (!renamed && errno != EEXIST && errno != ENOTEMPTY) fail_io(path_, errno);
  if (renamed) {
    pending_.clear();
  } else {
    const std::string letters = stage_->path.substr(stage_->path.rfind('.'));
    for (auto& one : pending_) move(one, concat(path_, "/.", one.name, letters));
    rmdir(stage_->path.c_str());
  }
  stage_.reset();
  return renamed;
}

void OutputFolder::commit_by_journal() {
  const Descriptor lock = lock_folder(path_);
  complete(commit_of(path_, read_journal(path_)));
  std::vector<std::string> files;
  for (const auto& one : pending_) files.push_back(std::filesystem::path(one.file.path).filename().string());
  add(std::string(kJournal), [&](FileWriter& out) {
    out.write(kJournalHead);
    for (const auto& file : files) out.write(file + "\n");
  });
  const Commit rest = commit_of(path_, files);
  if (rename(pending_.back().file.path.c_str(), rest.journal.c_str()) != 0) fail_io(rest.journal, errno);
  pending_.clear();  // they are the journal's now, whatever happens to this run
  flush_folder(path_);
  complete(rest);
}

void OutputFolder::commit() {
  if (stage_ && commit_new_folder()) return flush_folder(parent_and_name(path_).first);
  if (pending_.size() > 1) {
    commit_by_journal();
  } else if (!pending_.empty()) {
    const std::string target = path_ + "/" + pending_.front().name;
    if (rename(pending_.front().file.path.c_str(), target.c_str()) != 0) fail_io(target, errno);
    pending_.clear();
  }
  flush_folder(path_);
}

}  // namespace tamis
