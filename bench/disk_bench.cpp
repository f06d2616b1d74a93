// Passes over an .npy file that stays on disk, against the same passes over it in memory and against reading it alone.
//
//   build/disk_bench FILE.npy [THREADS] [--cold] [PASS...]
//
// The table must fit the memory. Prints medians of three rounds, the ways taking turns: seconds on the clock and, in
// brackets, of the CPU, and how near the pass from disk comes to the slower of the other two and to reading alone. With
// --cold the system forgets the file before each reading, and nothing is done in memory.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/random.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/npy_rows.h"
#include "tamis/data/passes/passes.h"
#include "tamis/linalg/blas.h"

namespace tamis {
namespace {

constexpr Index kWidth = 7;  // directions, as for 8 clusters
constexpr int kRounds = 3;

struct Times {
  double clock = 0, cpu = 0;
};

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Times times_of(const std::function<void()>& work) {
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), cpu_seconds() - cpu};
}

double median(std::vector<double> times) {
  if (times.empty()) return 0;
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

// Of each of the two by itself.
Times median(const std::vector<Times>& times) {
  std::vector<double> clock, cpu;
  for (const Times& one : times) {
    clock.push_back(one.clock);
    cpu.push_back(one.cpu);
  }
  return {median(clock), median(cpu)};
}

// The system drops what it holds of the file.
void forget(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  ::fdatasync(fd);
  ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
}

// What `dd bs=1M of=/dev/null` does.
void read_file(const std::string& path, std::uint64_t size) {
  const auto file = open_random_file(path);
  std::vector<std::byte> piece(std::size_t{1} << 20);
  for (std::uint64_t at = 0; at < size; at += piece.size()) {
    file->read_at(at, piece.data(), static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), size - at)));
  }
}

Source in_memory(const RowReader& rows) {
  auto bytes = std::make_shared<Buffer>(rows.shape().bytes_of(0, rows.rows()));
  for (Index first = 0; first < rows.rows(); first += kBlockRows) {
    const Index count = std::min(kBlockRows, rows.rows() - first);
    rows.read(first, count, bytes->data() + rows.shape().bytes_of(0, first));
  }
  return Source(make_dense_store({bytes->data(), rows.dtype(), rows.rows(), rows.cols(), rows.cols(), 1}, bytes));
}

struct Pass {
  const char* name;
  std::function<void(const Source&, const ColumnMoments&, Context&)> run;
};

std::vector<Pass> passes(Index n, Index d) {
  const Random random(1, 0);
  Matrix v(d, kWidth);
  for (Index i = 0; i < v.size(); ++i) v.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  std::vector<int> none(static_cast<std::size_t>(n), -1), dealt(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) dealt[static_cast<std::size_t>(i)] = static_cast<int>(i % (kWidth + 1));
  return {{"column moments",
           [](const Source& x, const ColumnMoments&, Context& context) {
             column_moments(Source(x.with_columns(x.columns())), context);  // a copy that does not know them yet
           }},
          {"rows times W", [v](const Source& x, const ColumnMoments& moments,
                               Context& context) { multiply(Centered(x, moments), v, context); }},
          {"sums of clusters",
           [none, dealt, d](const Source& x, const ColumnMoments& moments, Context& context) {
             Matrix sums(kWidth + 1, d);
             move_rows(Centered(x, moments), none, dealt, sums, context);
           }},
          {"X'X W", [v](const Source& x, const ColumnMoments& moments,
                        Context& context) { scatter_product(Centered(x, moments), v, context); }},
          {"X'X", [](const Source& x, const ColumnMoments& moments, Context& context) {
             gram(Centered(x, moments), context);
           }}};
}

struct Job {
  std::string path;
  int threads = 2;
  bool cold = false;
  std::vector<std::string> only;  // passes; empty: all

  bool wants(const char* pass) const { return only.empty() || std::find(only.begin(), only.end(), pass) != only.end(); }
};

void print_row(const char* pass, const Times& disk, const Times& memory, const Times& reading) {
  std::printf("%-18s %7.3f (%6.3f) %7.3f (%6.3f) %7.3f (%6.3f)  %.2f %.2f\n", pass, disk.clock, disk.cpu, memory.clock,
              memory.cpu, reading.clock, reading.cpu, std::max(memory.clock, reading.clock) / disk.clock,
              reading.clock / disk.clock);
  std::fflush(stdout);
}

int run(const Job& job) {
  blas::use_one_thread();
  Context context(job.threads);
  context.memory_limit = std::uint64_t{1} << 30;
  const auto rows = open_npy_rows(job.path, false, context);
  const Source disk = on_disk(rows, context), memory = job.cold ? disk : in_memory(*rows);
  const ColumnMoments moments = column_moments(memory, context);
  const std::uint64_t size = rows->shape().bytes_of(0, rows->rows());
  std::printf("%s: %ld x %ld %s, %d threads\n", job.path.c_str(), static_cast<long>(rows->rows()),
              static_cast<long>(rows->cols()), name_of(rows->dtype()), job.threads);
  std::printf("%-18s %16s %16s %16s  %s\n", "pass", "disk, s", "memory, s", "read, s",
              "slower of the two / disk, read / disk");
  for (const Pass& pass : passes(rows->rows(), rows->cols())) {
    if (!job.wants(pass.name)) continue;
    std::vector<Times> from_disk, from_memory, reading;
    for (int round = 0; round < kRounds; ++round) {
      if (job.cold) forget(job.path);
      from_disk.push_back(times_of([&] { pass.run(disk, moments, context); }));
      if (!job.cold) from_memory.push_back(times_of([&] { pass.run(memory, moments, context); }));
      if (job.cold) forget(job.path);
      reading.push_back(times_of([&] { read_file(job.path, size); }));
    }
    print_row(pass.name, median(from_disk), median(from_memory), median(reading));
  }
  return 0;
}

}  // namespace
}  // namespace tamis

int main(int argc, char** argv) {
  tamis::Job job;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--cold") {
      job.cold = true;
    } else if (job.path.empty()) {
      job.path = word;
    } else if (std::atoi(argv[i]) > 0) {
      job.threads = std::atoi(argv[i]);
    } else {
      job.only.emplace_back(word);
    }
  }
  if (job.path.empty()) {
    std::fprintf(stderr, "usage: disk_bench FILE.npy [THREADS] [--cold] [PASS...]\n");
    return 2;
  }
  try {
    return tamis::run(job);
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "disk_bench: %s\n", error.what());
    return 1;
  }
}
