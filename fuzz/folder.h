// A folder of its own for targets whose readers take paths; in memory where the system has such a place.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tamis {

class FuzzFolder {
 public:
  FuzzFolder() {
    const std::string place = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : "/tmp";
    path_ = place + "/tamis-fuzz-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) std::abort();
  }
  ~FuzzFolder() { std::filesystem::remove_all(path_); }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;

  std::string path(const std::string& name = "") const { return name.empty() ? path_ : path_ + "/" + name; }

  void put(const std::string& name, std::string_view bytes) const {
    std::ofstream file(path(name), std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
  void remove(const std::string& name) const { std::filesystem::remove_all(path(name)); }

 private:
  std::string path_;
};

}  // namespace tamis
