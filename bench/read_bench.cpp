// What reading a table into memory takes, one thread.
//
//   build/read_bench FILE...
//
// Prints CPU seconds, the least of five readings, one line a file.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <limits>
#include <string>

#include "tamis/base/error.h"
#include "tamis/data/table.h"
#include "tamis/linalg/blas.h"

namespace tamis {
namespace {

constexpr int kReadings = 5;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void measure(const std::string& path) {
  double least = std::numeric_limits<double>::infinity();
  for (int reading = 0; reading < kReadings; ++reading) {
    Context context(1);
    const double start = cpu_seconds();
    const Table table = read_table(path, {}, context);
    least = std::min(least, cpu_seconds() - start);
  }
  std::printf("%s %.3f\n", path.c_str(), least);
  std::fflush(stdout);
}

}  // namespace
}  // namespace tamis

int main(int argc, char** argv) {
  tamis::blas::use_one_thread();
  try {
    for (int i = 1; i < argc; ++i) tamis::measure(argv[i]);
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "read_bench: %s\n", error.what());
    return 1;
  }
  return argc > 1 ? 0 : 2;
}
