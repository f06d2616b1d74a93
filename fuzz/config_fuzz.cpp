// Fuzzes files of options (--config).
#include <CLI/CLI.hpp>
#include <sstream>

#include "app/session.h"
#include "fuzz/harness.h"

namespace tamis {
namespace {

void read(std::string_view bytes, Context&) {
  static CLI::App root("fuzz");
  static const app::Command command = app::add_select_command(root);
  command.app->clear();  // making it anew for every input would take most of the time
  std::istringstream file{std::string(bytes)};
  try {
    app::apply_config(*command.app, file, "fuzz");
  } catch (const CLI::ParseError&) {  // a complaint of the command line's, as for a flag
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
