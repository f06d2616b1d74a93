// A file with the state of a run, so that the run can be taken up where it was killed.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/base/context.h"

namespace tamis {

// The file holds a checksum, the key and the state. `key` is all that decides the run (data, options, seed, version),
// as lines of name=value.
class Checkpoint final : public CheckpointStore {
 public:
  // Refuses at once a path that cannot be written: Error(io), Error(usage).
  Checkpoint(std::string path, std::string key);

  std::string where() const override;
  // The state in the file; nothing where there is no file. Error(bad_data) where it is damaged or no checkpoint,
  // Error(usage) where it belongs to another run, saying in what that differs.
  std::optional<std::string> load() override;
  // In one step: the file is the old one or the new one at any moment. Not always means: so rarely that it costs a
  // twentieth of the time at most.
  void save(const std::function<std::string()>& state, bool always) override;

 private:
  const std::string path_, key_;
  std::chrono::steady_clock::time_point next_{};
};

// The state in the bytes of such a file; the errors of Checkpoint::load(), which name `where`.
std::string checkpoint_state(std::string_view bytes, const std::string& key, const std::string& where);
// The bytes of such a file.
std::string checkpoint_bytes(const std::string& key, const std::string& state);

}  // namespace tamis
