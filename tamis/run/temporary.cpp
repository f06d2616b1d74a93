#include "tamis/run/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "tamis/base/error.h"

namespace tamis {

namespace {

// Of ".NAME.tamis-XXXXXX": nobody else calls a file so.
constexpr std::string_view kTemporary = ".tamis-";
constexpr std::size_t kRandomLetters = 6;

// Plain memory: a handler may look at it at any moment. A path too long to note is only not removed on a crash.
constexpr int kSlots = 16;
constexpr std::size_t kNameSize = 4096;
char temporary_names[kSlots][kNameSize];
std::atomic<bool> name_used[kSlots];

bool is_same_entry(int descriptor, const std::string& path) {
  struct stat open_one {
  }, named{};
  return fstat(descriptor, &open_one) == 0 && lstat(path.c_str(), &named) == 0 && !S_ISLNK(named.st_mode) &&
         open_one.st_dev == named.st_dev && open_one.st_ino == named.st_ino;
}

std::string random_letters() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::random_device random;
  std::string letters;
  while (letters.size() < kRandomLetters) letters += kLetters[random() % kLetters.size()];
  return letters;
}

// What is open of an entry that no run holds any more.
Descriptor opened_if_abandoned(const std::string& path, int kind) {
  Descriptor entry(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | kind));
  if (!entry.open() || flock(entry.value(), LOCK_EX | LOCK_NB) != 0 || !is_same_entry(entry.value(), path))
    return Descriptor();
  return entry;
}

// None where it cannot be read. std::filesystem's iterator ends the program where memory runs out.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  while (const dirent* entry = entries ? readdir(entries.get()) : nullptr) names.emplace_back(entry->d_name);
  return names;
}

bool is_regular(int descriptor) {
  struct stat status {};
  return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

// False where one that looks for leftovers has removed it in the moment before the lock: then there must be another. A
// file system without locks has none to break either.
bool locked(Temporary& made) {
  flock(made.open.value(), LOCK_EX);
  if (!is_same_entry(made.open.value(), made.path)) return false;
  made.noted = TemporaryName(made.path);
  return true;
}

}  // namespace

TemporaryName::TemporaryName(const std::string& path) {
  for (int slot = 0; slot < kSlots && slot_ < 0 && path.size() < kNameSize; ++slot) {
    if (name_used[slot]) continue;
    path.copy(temporary_names[slot], path.size());
    temporary_names[slot][path.size()] = '\0';
    name_used[slot] = true;
    slot_ = slot;
  }
}

TemporaryName::~TemporaryName() {
  if (slot_ >= 0) name_used[slot_] = false;
}

void remove_temporaries() {
  for (int slot = 0; slot < kSlots; ++slot) {
    if (name_used[slot]) unlink(temporary_names[slot]);
  }
  for (int slot = 0; slot < kSlots; ++slot) {  // folders, which are empty now
    if (name_used[slot]) rmdir(temporary_names[slot]);
  }
}

// Nothing is allocated once it is there, so that none is left over where memory runs out.
Temporary make_temporary_file(const std::string& folder, const std::string& name) {
  for (;;) {
    Temporary made{Descriptor(), concat(folder, "/.", name, kTemporary, random_letters()), {}};
    made.open = Descriptor(open(made.path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));  // but for the umask
    if (!made.open.open() && errno == EEXIST) continue;
    require(made.open.open(), ErrorCode::io, folder, "/", name, ": ", std::strerror(errno));
    if (locked(made)) return made;
  }
}

Temporary make_temporary_folder(const std::string& folder, const std::string& name) {
  for (;;) {
    Temporary made{Descriptor(), concat(folder, "/.", name, kTemporary, random_letters()), {}};
    if (mkdir(made.path.c_str(), 0777) != 0) {
      require(errno == EEXIST, ErrorCode::io, folder, ": ", std::strerror(errno));
      continue;
    }
    made.open = Descriptor(open(made.path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made.open.open() && errno == ENOENT) continue;
    if (!made.open.open()) {
      const int error = errno;
      rmdir(made.path.c_str());
      fail(ErrorCode::io, folder, "/", name, ": ", std::strerror(error));
    }
    if (locked(made)) return made;
  }
}

std::optional<std::string_view> name_of_temporary(std::string_view file) {
  const std::size_t tail = kTemporary.size() + kRandomLetters;
  if (file.size() < tail + 2 || file.front() != '.') return std::nullopt;
  const std::string_view name = file.substr(1, file.size() - 1 - tail);
  const bool ours = file.substr(1 + name.size()).starts_with(kTemporary);
  return ours ? std::optional(name) : std::nullopt;
}

void remove_leftovers(const std::string& folder, const std::function<bool(std::string_view)>& is_ours) {
  for (const auto& file : names_in(folder)) {
    const auto name = name_of_temporary(file);
    if (!name || !is_ours(*name)) continue;
    const std::string path = folder + "/" + file;
    const Descriptor left = opened_if_abandoned(path, 0);
    if (left.open() && is_regular(left.value())) unlink(path.c_str());
  }
}

void remove_left_folders(const std::string& folder, const std::string& name,
                         const std::function<bool(std::string_view)>& is_ours) {
  for (const auto& file : names_in(folder)) {
    if (name_of_temporary(file) != name) continue;
    const std::string path = folder + "/" + file;
    const Descriptor left = opened_if_abandoned(path, O_DIRECTORY);
    if (!left.open()) continue;
    remove_leftovers(path, is_ours);
    for (const auto& inside : names_in(path)) {
      if (is_ours(inside)) unlink((path + "/" + inside).c_str());
    }
    rmdir(path.c_str());  // only where it is empty
  }
}

}  // namespace tamis
