// Times the passes over the data and k-means, one thread, on synthetic rows.
//
//   build/kernels_bench --benchmark_filter=gram
#include <benchmark/benchmark.h>

#include <vector>

#include "tamis/base/random.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"

namespace {

using tamis::Index;

// n rows around ten centers, in T.
template <class T>
std::vector<T> planted_rows(Index n, Index d) {
  const tamis::Random random(1, 0);
  std::vector<T> out(static_cast<std::size_t>(n * d));
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double center = 3 * random.normal(static_cast<std::uint64_t>(n * d + (i % 10) * d + j));
      out[static_cast<std::size_t>(i * d + j)] =
          static_cast<T>(center + random.normal(static_cast<std::uint64_t>(i * d + j)));
    }
  }
  return out;
}

tamis::Matrix random_matrix(Index rows, Index cols) {
  const tamis::Random random(2, 0);
  tamis::Matrix out(rows, cols);
  for (Index k = 0; k < out.size(); ++k) out.data()[k] = random.normal(static_cast<std::uint64_t>(k));
  return out;
}

// Dense rows of benchmark arguments n and d, centered.
template <class T>
struct Dense {
  explicit Dense(const benchmark::State& state)
      : n(state.range(0)),
        d(state.range(1)),
        rows(planted_rows<T>(n, d)),
        context(1),
        centered(source(), tamis::column_moments(source(), context)) {}

  // A new one each time: a source keeps its moments.
  tamis::Source source() const {
    const tamis::DType type = sizeof(T) == 4 ? tamis::DType::f32 : tamis::DType::f64;
    return tamis::Source(tamis::make_dense_store({rows.data(), type, n, d, d, 1}));
  }

  // Floating-point operations of one call, as a rate.
  void rate(benchmark::State& state, double operations) const {
    state.counters["flop/s"] =
        benchmark::Counter(operations, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
  }

  Index n, d;
  std::vector<T> rows;
  tamis::Context context;
  tamis::Centered centered;
};

template <class T>
void column_moments(benchmark::State& state) {
  Dense<T> data(state);
  for (auto _ : state) benchmark::DoNotOptimize(tamis::column_moments(data.source(), data.context));
  state.SetBytesProcessed(state.iterations() * data.n * data.d * static_cast<Index>(sizeof(T)));
}

template <class T>
void gram(benchmark::State& state) {
  Dense<T> data(state);
  for (auto _ : state) benchmark::DoNotOptimize(tamis::gram(data.centered, data.context));
  data.rate(state, static_cast<double>(data.n * data.d * data.d));
}

constexpr Index kDirections = 9;

template <class T>
void multiply(benchmark::State& state) {
  Dense<T> data(state);
  const tamis::Matrix v = random_matrix(data.d, kDirections);
  for (auto _ : state) benchmark::DoNotOptimize(tamis::multiply(data.centered, v, data.context));
  data.rate(state, static_cast<double>(2 * data.n * data.d * kDirections));
}

template <class T>
void multiply_transposed(benchmark::State& state) {
  Dense<T> data(state);
  const tamis::Matrix t = random_matrix(data.n, kDirections);
  for (auto _ : state) benchmark::DoNotOptimize(tamis::multiply_transposed(data.centered, t, data.context));
  data.rate(state, static_cast<double>(2 * data.n * data.d * kDirections));
}

template <class T>
void kmeans(benchmark::State& state) {
  const Index n = state.range(0), m = state.range(1);
  tamis::BasicMatrix<T> rows(n, m);
  const std::vector<T> values = planted_rows<T>(n, m);
  std::copy(values.begin(), values.end(), rows.data());
  const tamis::Points<T> points(rows);
  tamis::KMeansOptions options;
  options.clusters = state.range(2);
  tamis::Context context(1);
  for (auto _ : state) benchmark::DoNotOptimize(tamis::kmeans(points, options, context));
}

void shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({7000, 784})->Args({100000, 64})->Args({100, 20000})->Unit(benchmark::kMillisecond);
}
void gram_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({7000, 784})->Args({100000, 64})->Unit(benchmark::kMillisecond);
}
void cluster_shapes(benchmark::internal::Benchmark* benchmark) {
  benchmark->Args({1440, 19, 20})->Args({7000, 9, 10})->Args({70000, 9, 10})->Unit(benchmark::kMillisecond);
}

BENCHMARK(column_moments<double>)->Apply(shapes);
BENCHMARK(column_moments<float>)->Apply(shapes);
BENCHMARK(gram<double>)->Apply(gram_shapes);
BENCHMARK(gram<float>)->Apply(gram_shapes);
BENCHMARK(multiply<double>)->Apply(shapes);
BENCHMARK(multiply<float>)->Apply(shapes);
BENCHMARK(multiply_transposed<double>)->Apply(shapes);
BENCHMARK(multiply_transposed<float>)->Apply(shapes);
BENCHMARK(kmeans<double>)->Apply(cluster_shapes);
BENCHMARK(kmeans<float>)->Apply(cluster_shapes);

}  // namespace

BENCHMARK_MAIN();
