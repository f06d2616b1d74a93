// Writing results so that nothing is ever half there. Each file is written under a temporary name and flushed to the
// disk; temporary files vanish with the object unless they were committed. Committed is all or nothing:
//
// - A folder that was not there is written under a temporary name and renamed: it appears whole or not at all.
// - One file in a folder is one rename.
// - Several files in a folder that is there: a journal, ".tamis-commit", that names the temporary files is flushed and
//   renamed into place. That is the switch. Then the files get their names and the journal is removed. A run that is
//   killed in between (some ten microseconds a file) leaves old and new files side by side, with the journal to say
//   so, and the next run with this folder first completes the renames.
//   So does who reads the result (complete_result).
//
// A new file has the permissions that the umask leaves; one that replaces another has those of the other.
//
// Runs that write to one folder at once commit one after the other, by a lock of the folder itself; the last one
// stays. The folder is never replaced by another: programs may stand in it, watch it or serve it, and it may hold
// files of other people, which are never touched: also not where they have the name of one of ours.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/run/temporary.h"

namespace tamis {

// Appends bytes to an open file, a large piece at a time.
class FileWriter {
 public:
  FileWriter(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  void write(std::string_view bytes);
  void flush();  // throws Error(io)

 private:
  int descriptor_;
  std::string path_;  // for messages
  std::string buffer_;
};

// All of `bytes` to an open descriptor; throws Error(io) naming `path`.
void write_all(int descriptor, std::string_view bytes, const std::string& path);

// The file in an output folder that says what a commit has yet to rename.
inline constexpr std::string_view kJournal = ".tamis-commit";

// For who reads from a folder, or from the folder of a file: completes a result that a killed run had committed.
// Error(io) where it cannot.
void complete_result(const std::string& folder);
void complete_result_of(const std::string& file);

class OutputFolder {
 public:
  // Refuses, before any work is done, a path that is no folder (usage), one that cannot be written (io), and one
  // where a file of `names` is one of `inputs`, by device and inode, or was not written by tamis (usage). Completes a
  // result that a killed run had committed, and removes what other killed runs left of `names`.
  OutputFolder(std::string path, const std::vector<std::string>& names, const std::vector<std::string>& inputs);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Writes one file under a temporary name.
  void add(const std::string& name, const std::function<void(FileWriter&)>& fill);
  // Gives every file its own name, as one result; files that stood under these names are replaced.
  void commit();

 private:
  struct Pending {
    Temporary file;
    std::string name;
  };
  void make_folder();
  bool commit_new_folder();
  void commit_by_journal();

  std::string path_;
  std::optional<Temporary> stage_;  // the new folder, where there is none yet
  std::vector<Pending> pending_;
};

}  // namespace tamis
