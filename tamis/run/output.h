// Writing results so that nothing is ever half there: each file is written under a temporary name in its folder,
// flushed to the disk, and renamed when all of them are whole. Temporary files vanish with the object.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tamis/base/descriptor.h"

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

// A name in a fixed table that a signal handler can read; forgotten when this ends.
class TemporaryName {
 public:
  explicit TemporaryName(const std::string& path);
  ~TemporaryName();
  TemporaryName(TemporaryName&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}
  TemporaryName& operator=(TemporaryName&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }

 private:
  int slot_ = -1;
};

// Removes the temporary files of all output folders; safe to call from a signal handler that ends the program.
void remove_temporaries();

// Removes what killed runs left of the files that `is_ours` says yes to, by the names that they would have got.
// Nothing but regular files that an OutputFolder made, and that no living process has open.
void remove_leftovers(const std::string& folder, const std::function<bool(std::string_view)>& is_ours);

class OutputFolder {
 public:
  // Refuses, before any work is done, a path that is no folder (usage), one that cannot be written (io), and one
  // where a file of `names` is one of `inputs`, by device and inode (usage). Removes what killed runs left of `names`.
  OutputFolder(std::string path, const std::vector<std::string>& names, const std::vector<std::string>& inputs);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Writes one file under a temporary name; the folder is made where it is missing.
  void add(const std::string& name, const std::function<void(FileWriter&)>& fill);
  // Gives every file its own name. Files that stood under these names are replaced, each in one step.
  void commit();

 private:
  struct Pending {
    Descriptor file;  // open until the file has its name: its lock says that somebody is at work
    std::string temporary, target;
    TemporaryName noted;  // for remove_temporaries()
  };
  void make_folder();

  std::string path_;
  bool made_ = false;  // by us, so ours to remove on failure
  std::vector<Pending> pending_;
};

}  // namespace tamis
