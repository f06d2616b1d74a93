// Compiled by tools/mutate only: writes a line a test to $TAMIS_REACHED: its name, milliseconds, and the mutants that
// it reaches.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/support/mutant.h"

namespace mutant {
namespace {

class Listener : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    std::fill(std::begin(reached), std::end(reached), static_cast<unsigned char>(0));
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    const char* path = std::getenv("TAMIS_REACHED");
    if (path == nullptr) return;
    std::ofstream file(path, std::ios::app);
    file << test.test_suite_name() << '.' << test.name() << ' ' << test.result()->elapsed_time();
    for (int id = 0; id < kMost; ++id) {
      if (reached[id] != 0) file << ' ' << id;
    }
    file << '\n';
  }
};

const bool listening = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new Listener);
  return true;
}();

}  // namespace
}  // namespace mutant
