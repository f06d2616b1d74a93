// Files and folders under names of their own, ".NAME.tamis-XXXXXX", that get NAME when they are whole. Each is locked
// for as long as it is open, so that what killed runs left can be told from what is being written.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tamis/base/descriptor.h"

namespace tamis {

// A path in a fixed table that a signal handler can read; forgotten when this ends.
class TemporaryName {
 public:
  explicit TemporaryName(const std::string& path);
  TemporaryName() = default;
  ~TemporaryName();
  TemporaryName(TemporaryName&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}
  TemporaryName& operator=(TemporaryName&& other) noexcept {
    std::swap(slot_, other.slot_);
    return *this;
  }

 private:
  int slot_ = -1;
};

// Removes what has such a name; safe to call from a signal handler that ends the program.
void remove_temporaries();

struct Temporary {
  Descriptor open;  // holds the lock
  std::string path;
  TemporaryName noted;
};
Temporary make_temporary_file(const std::string& folder, const std::string& name);    // throws Error(io)
Temporary make_temporary_folder(const std::string& folder, const std::string& name);  // throws Error(io)

// The NAME that a temporary file or folder will get; nothing where it is none of ours.
std::optional<std::string_view> name_of_temporary(std::string_view file);

// Removes what killed runs left of the files that `is_ours` says yes to, by the names that they would have got.
// Nothing but regular files that an OutputFolder made, and that no living process has open.
void remove_leftovers(const std::string& folder, const std::function<bool(std::string_view)>& is_ours);
// The same for the temporary folders called `name` in `folder`, with the files in them that `is_ours` says yes to.
void remove_left_folders(const std::string& folder, const std::string& name,
                         const std::function<bool(std::string_view)>& is_ours);

}  // namespace tamis
