// Passes over an .npy file that stays on disk, against the same passes over it in memory and against reading it alone.
//
//   build/disk_bench FILE.npy [THREADS]
//
// The table must fit the memory. Prints medians of three rounds, the three ways taking turns, and how near the pass
// from disk comes to the slower of the other two.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
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

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> times) {
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return times[times.size() / 2];
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

int run(const std::string& path, int threads) {
  blas::use_one_thread();
  Context context(threads);
  context.memory_limit = std::uint64_t{1} << 30;
  const auto rows = open_npy_rows(path, false, context);
  const Source disk = on_disk(rows, context), memory = in_memory(*rows);
  const ColumnMoments moments = column_moments(memory, context);
  const std::uint64_t size = rows->shape().bytes_of(0, rows->rows());
  std::printf("%s: %ld x %ld %s, %d threads\n", path.c_str(), static_cast<long>(rows->rows()),
              static_cast<long>(rows->cols()), name_of(rows->dtype()), threads);
  std::printf("%-18s %9s %9s %9s  %s\n", "pass", "disk, s", "memory, s", "read, s", "slower of the two / disk");
  for (const Pass& pass : passes(rows->rows(), rows->cols())) {
    std::vector<double> from_disk, from_memory, reading;
    for (int round = 0; round < kRounds; ++round) {
      from_disk.push_back(seconds_of([&] { pass.run(disk, moments, context); }));
      from_memory.push_back(seconds_of([&] { pass.run(memory, moments, context); }));
      reading.push_back(seconds_of([&] { read_file(path, size); }));
    }
    const double a = median(from_disk), b = median(from_memory), c = median(reading);
    std::printf("%-18s %9.3f %9.3f %9.3f  %.2f\n", pass.name, a, b, c, std::max(b, c) / a);
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace tamis

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: disk_bench FILE.npy [THREADS]\n");
    return 2;
  }
  try {
    return tamis::run(argv[1], argc > 2 ? std::atoi(argv[2]) : 2);
  } catch (const tamis::Error& error) {
    std::fprintf(stderr, "disk_bench: %s\n", error.what());
    return 1;
  }
}
