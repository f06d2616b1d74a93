// Passes over rows that live elsewhere, against the same rows in memory: the same bits, whatever the chunks are.
#include "tamis/data/stores/remote.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/point_passes.h"
#include "tamis/data/passes/reduce.h"
#include "tamis/data/passes/wire.h"
#include "tamis/select/methods/maxvar.h"
#include "tamis/select/ufcm/ufcm.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"
#include "tests/support/workers.h"

namespace tamis {
namespace {

using support::remote_source;
using support::Workers;

std::vector<double> factors(Index count) {
  std::vector<double> out;
  for (Index i = 0; i < count; ++i) out.push_back(static_cast<double>(1 + i % 5) * (i % 3 == 1 ? -0.5 : 0.25));
  return out;
}

std::vector<Index> three_of_four(Index cols) {
  std::vector<Index> out;
  for (Index j = 0; j < cols; ++j) {
    if (j % 4 != 1) out.push_back(j);
  }
  return out;
}

std::vector<double> some_weights(Index count) {
  std::vector<double> out;
  for (Index i = 0; i < count; ++i) out.push_back(static_cast<double>((i + 1) % 4) * 0.75);
  return out;
}

// The ways a source is seen.
std::vector<std::function<Source(const Source&)>> sights() {
  return {
      [](const Source& source) { return source; },
      [](const Source& source) { return source.with_columns(three_of_four(source.cols())); },
      [](const Source& source) {
        const Source some = source.with_columns(three_of_four(source.cols()));
        return some.with_column_scale(factors(some.cols())).with_row_scale(factors(some.rows()));
      },
      [](const Source& source) { return source.with_some_weights(some_weights(source.rows())); },
  };
}

// Of the last layout, which zeros are stored depends on the number of their row.
std::vector<support::Layout> all_layouts() { return {support::layouts().begin(), support::layouts().end() - 1}; }
std::vector<support::Layout> two_layouts() { return {all_layouts().front(), all_layouts().back()}; }

// check(in memory, remote, name) for tables of many kinds, cut into chunks in many ways.
template <class Check>
void for_each_twin(const Matrix& x, Index block_rows, Check check) {
  for (const auto& layout : all_layouts()) {
    const Source memory = layout.make(x, block_rows);
    for (const Index blocks : {1, 2, 8, 64}) {
      Workers workers(x, layout.make, block_rows, blocks);
      const Source remote = remote_source(workers, x, block_rows);
      for (const auto& seen : sights()) {
        check(seen(memory), seen(remote), layout.name + ", chunks of " + std::to_string(blocks) + " blocks");
      }
    }
  }
}

Matrix some_table(Index n, Index d) {
  Matrix x = support::thinned(support::whole_numbers(n, d, 100, 1), 0.5, 2);
  for (Index i = 0; i < n && d > 3; ++i) x(i, 3) = 1 + static_cast<double>(i % 7);  // stored in every row
  return x;
}

void expect_same_moments(const ColumnMoments& a, const ColumnMoments& b, const std::string& name) {
  EXPECT_EQ(a.rows, b.rows) << name;
  EXPECT_EQ(a.unit, b.unit) << name;
  EXPECT_TRUE(support::same_bits(a.mean, b.mean)) << name;
  EXPECT_TRUE(support::same_bits(a.scatter, b.scatter)) << name;
  EXPECT_TRUE(support::same_bits(a.min, b.min)) << name;
  EXPECT_TRUE(support::same_bits(a.max, b.max)) << name;
  EXPECT_EQ(a.varying, b.varying) << name;
  EXPECT_EQ(a.stored, b.stored) << name;
}

TEST(Remote, MomentsHaveTheBitsOfMemory) {
  Context context(2);
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{1, 3}, {3, 5}, {77, 9}, {80, 9}}) {
    for_each_twin(some_table(n, d), 4, [&](const Source& memory, const Source& remote, const std::string& name) {
      expect_same_moments(column_moments(memory, context), column_moments(remote, context), name);
    });
  }
}

TEST(Remote, MomentsOfHugeAndTinyValuesHaveTheBitsOfMemory) {
  Context context(1);
  for (const double factor : {1e200, 1e-200, 1e9}) {
    Matrix x = support::random_matrix(50, 4, 3);
    for (Index i = 0; i < x.size(); ++i) x.data()[i] *= factor;
    const support::MakeSource make = support::layouts().front().make;
    Workers workers(x, make, 4, 2);
    expect_same_moments(column_moments(make(x, 4), context), column_moments(remote_source(workers, x, 4), context),
                        std::to_string(factor));
  }
}

TEST(Remote, ProductsHaveTheBitsOfMemory) {
  Context context(2);
  for_each_twin(some_table(77, 9), 4, [&](const Source& memory, const Source& remote, const std::string& name) {
    const Centered z(memory, column_moments(memory, context)), far(remote, column_moments(remote, context));
    const Matrix v = support::random_matrix(z.cols(), 3, 4), t = support::random_matrix(z.rows(), 5, 5);
    const Index before = context.passes();
    EXPECT_TRUE(support::same_bits(multiply(z, v, context), multiply(far, v, context))) << name;
    EXPECT_TRUE(support::same_bits(multiply_transposed(z, t, context), multiply_transposed(far, t, context))) << name;
    EXPECT_TRUE(support::same_bits(scatter_product(z, v, context), scatter_product(far, v, context))) << name;
    EXPECT_EQ((context.passes() - before) % 2, 0) << name << ": as many passes in both places";
    if (z.source().sparse()) return;
    EXPECT_TRUE(support::same_bits(gram(z, context), gram(far, context))) << name;
  });
}

// Past one tile of columns, and past the columns that one sweep takes.
TEST(Remote, ProductsOfWideTablesHaveTheBitsOfMemory) {
  Context context(2);
  for (const Index d : {1500, 4200}) {
    const Matrix x = support::random_matrix(40, d, 6);
    for (const auto& layout : two_layouts()) {
      const Source memory = layout.make(x, 4);
      Workers workers(x, layout.make, 4, 2);
      const Source remote = remote_source(workers, x, 4);
      const Centered z(memory, column_moments(memory, context)), far(remote, column_moments(remote, context));
      const Matrix v = support::random_matrix(d, 2, 7);
      EXPECT_TRUE(support::same_bits(multiply(z, v, context), multiply(far, v, context)));
      EXPECT_TRUE(support::same_bits(scatter_product(z, v, context), scatter_product(far, v, context)));
      if (d > 2000 || z.source().sparse()) continue;
      EXPECT_TRUE(support::same_bits(gram(z, context), gram(far, context)));
    }
  }
}

TEST(Remote, RowsAreFoundWhereverTheyAre) {
  Context context(2);
  for_each_twin(some_table(77, 9), 4, [&](const Source& memory, const Source& remote, const std::string& name) {
    const Centered z(memory, column_moments(memory, context)), far(remote, column_moments(remote, context));
    const std::vector<Index> rows = {0, 3, 4, 31, 32, 40, 76};
    EXPECT_TRUE(support::same_bits(gather_rows(memory, rows, context), gather_rows(remote, rows, context))) << name;
    for (const auto of : {Fingerprint::values, Fingerprint::digits}) {
      EXPECT_EQ(column_fingerprints(memory, of, context), column_fingerprints(remote, of, context)) << name;
    }
    std::vector<int> before, after;
    for (int i = 0; i < 77; ++i) before.push_back(i % 5 - 1), after.push_back(i < 30 ? i % 5 - 1 : i % 3);
    Matrix here(4, z.cols(), 0.5), there = here;
    move_rows(z, before, after, here, context);
    move_rows(far, before, after, there, context);
    EXPECT_TRUE(support::same_bits(here, there)) << name;
  });
}

TEST(Remote, TheFirstBadValueIsNamedByItsRowOfAll) {
  for (const Index row : {0, 5, 33, 76}) {
    Matrix x = support::random_matrix(77, 4, 8);
    x(row, 2) = -std::numeric_limits<double>::infinity();
    if (row < 76) x(76, 0) = std::nan("");
    for (const auto& layout : all_layouts()) {
      if (layout.make(Matrix(1, 1), 4).store().dtype() != DType::f64) continue;
      Workers workers(x, layout.make, 4, 2);
      const Source remote = remote_source(workers, x, 4);
      support::expect_error(ErrorCode::bad_data, {"row " + std::to_string(row) + ", column 2: -inf"}, [&] {
        Context context(1);
        column_moments(remote, context);
      });
    }
  }
}

void expect_same_selection(const Selection& a, const Selection& b) {
  EXPECT_TRUE(support::same_bits(a.scores, b.scores));
  EXPECT_EQ(a.ranking, b.ranking);
  EXPECT_EQ(a.clusters, b.clusters);
  EXPECT_TRUE(support::same_bits(a.components, b.components));
  EXPECT_TRUE(support::same_bits(a.report.objective, b.report.objective));
  EXPECT_EQ(a.report.passes, b.report.passes);
  EXPECT_EQ(a.report.path, b.report.path);
}

// Few rows, many rows (the directions come from a sample), more columns than rows, with and without copies of columns,
// and each side of alpha = 1.
TEST(Remote, MethodsGiveTheBitsOfMemory) {
  for (const auto& [n, d] :
       std::vector<std::pair<Index, Index>>{{60, 7}, {4500, 20}, {300, 400}, {1100, 1150}, {30, 90}}) {
    Matrix x = support::mixture(n, d, 3, 4, 5, 9);
    if (d < 100) support::copy_columns(x, {{1, 5}, {0, 3, 6}});
    const Index block_rows = n > 256 ? kBlockRows : 256;
    for (const auto& layout : two_layouts()) {
      Workers workers(x, layout.make, block_rows, 1);
      for (const double alpha : {0.1, 1.0, 3.0}) {
        if (n * d > 1000000 && alpha != 1) continue;  // takes long under sanitizers
        UfcmOptions options;
        options.clusters = 3;
        options.alpha = alpha;
        options.iterations = 6;
        Context here(2), there(1);
        expect_same_selection(ufcm(layout.make(x, block_rows), options, here),
                              ufcm(remote_source(workers, x, block_rows), options, there));
      }
      Context here(2), there(1);
      expect_same_selection(maxvar(layout.make(x, block_rows), {}, here),
                            maxvar(remote_source(workers, x, block_rows), {}, there));
    }
  }
}

void expect_same_clusters(const KMeansResult& a, const KMeansResult& b, const std::string& name) {
  EXPECT_EQ(a.labels, b.labels) << name;
  EXPECT_EQ(a.counts, b.counts) << name;
  EXPECT_TRUE(support::same_bits(a.centers, b.centers)) << name;
  EXPECT_TRUE(support::same_bits(a.history, b.history)) << name;
  EXPECT_EQ(a.converged, b.converged) << name;
}

// From centers two of which attract no point, from labels, and with some labels fixed.
TEST(Remote, LloydsStepsHaveTheBitsOfMemory) {
  const Matrix x = support::mixture(3 * kBlockRows + 77, 6, 3, 4, 5, 11);
  const support::MakeSource make = support::layouts().front().make;
  Context here(2), there(1);
  const Source memory = make(x, kBlockRows);
  const Centered z(memory, column_moments(memory, here));
  const Matrix w = support::random_matrix(6, 3, 12);
  const Points<double> points(multiply(z, w, here));
  Matrix centers = support::random_matrix(5, 3, 13);
  for (const Index far_away : {1, 3}) centers(far_away, 0) = 1e6;
  KMeansOptions options;
  options.clusters = 5;
  std::vector<int> labels, fixed;
  for (int i = 0; i < x.rows(); ++i) labels.push_back(i % 4), fixed.push_back(i % 7 == 0 ? i % 5 : -1);
  for (const Index blocks : {1, 2, 4}) {
    Workers workers(x, make, kBlockRows, blocks);
    const Source remote = remote_source(workers, x, kBlockRows);
    const Centered far(remote, column_moments(remote, there));
    const Points<double> left = project(far, w, there);
    ASSERT_NE(left.there().store, nullptr);
    EXPECT_EQ(points.squared_norm(), left.squared_norm());
    for (const auto& given : {std::vector<int>(), fixed}) {
      options.fixed = given;
      const std::string name = std::to_string(blocks) + (given.empty() ? " blocks" : " blocks, some labels fixed");
      expect_same_clusters(lloyd(points, centers, options, here), lloyd(left, centers, options, there), name);
      expect_same_clusters(lloyd_from_labels(points, labels, options, here),
                           lloyd_from_labels(left, labels, options, there), name);
    }
    const std::vector<Index> rows = {0, 5, kBlockRows, x.rows() - 1};
    const Points<double> some = take_points(left, rows, there);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(some.at(static_cast<Index>(i), 2), points.at(rows[i], 2));
    }
  }
}

// U is found where the rows are: nothing but labels comes by row, unless the rows are few.
TEST(Remote, ProjectedRowsStayWhereTheRowsAre) {
  const Matrix x = support::mixture(2 * kBlockRows + 9, 8, 3, 4, 5, 14);
  const support::MakeSource make = support::layouts().front().make;
  Workers workers(x, make, kBlockRows, 1);
  Context context(1);
  UfcmOptions options;
  options.clusters = 3;
  options.beta = 10;
  ufcm(remote_source(workers, x, kBlockRows), options, context);
  EXPECT_EQ(std::count(workers.calls.begin(), workers.calls.end(), "multiply"), 0);
  EXPECT_GT(std::count(workers.calls.begin(), workers.calls.end(), "assign_points"), 0);
  workers.calls.clear();
  options.clusters = 20;
  ufcm(remote_source(workers, x, kBlockRows), options, context);
  EXPECT_GT(std::count(workers.calls.begin(), workers.calls.end(), "multiply"), 0);
  EXPECT_EQ(std::count(workers.calls.begin(), workers.calls.end(), "assign_points"), 0);
}

TEST(Remote, TakesNoMemoryHere) {
  const RemoteStore store({Index{1} << 40, 1000, false, Index{1} << 50, DType::f64}, {});
  EXPECT_EQ(store.resident_bytes(), 0U);
  EXPECT_FALSE(store.in_memory());
}

TEST(Remote, WhatRunsElsewhereMayFail) {
  const RemoteShape shape{10, 2, false, 20, DType::f64};
  const Source source(std::make_shared<RemoteStore>(
      shape, [](const RemoteCall& call) -> RemoteResults { fail(ErrorCode::io, call.pass, ": nobody there"); }));
  Context context(1);
  support::expect_error(ErrorCode::io, {"nobody there"}, [&] { column_moments(source, context); });
  support::expect_error(ErrorCode::internal, {"cannot run where the rows are"}, [&] { gather(source, context); });
}

TEST(Remote, DamagedPartsAreRefused) {
  const Matrix x = support::random_matrix(16, 3, 10);
  const support::MakeSource make = support::layouts().front().make;
  Workers workers(x, make, 4, 2);
  Context context(1);
  const Source remote(std::make_shared<RemoteStore>(
      RemoteShape{16, 3, false, 48, DType::f64},
      [&](const RemoteCall& call) {
        RemoteResults results = workers.run(call);
        ByteView& bytes = results.parts.front().bytes;
        if (call.pass == "moments") bytes = bytes.first(bytes.size() - 1);
        return results;
      },
      4));
  support::expect_error(ErrorCode::internal, {"damaged"}, [&] { column_moments(remote, context); });
  const Bytes few = Packer().put(std::vector<Matrix>(1, Matrix(2, 2))).take();
  const Bytes more = Packer().put(std::vector<Matrix>(1, Matrix(3, 2))).take();
  support::expect_error(ErrorCode::internal, {"other shapes"}, [&] { remote_merge("sweep", few, more); });
  support::expect_error(ErrorCode::internal, {"not merged"}, [&] { remote_merge("multiply", few, few); });
  support::expect_error(ErrorCode::internal, {"no remote pass"}, [&] { remote_merge("nothing", few, few); });
}

// What a chunk of 4 rows and 3 columns is asked.
void expect_refused(const std::string& pass, Packer& shared, const std::vector<Bytes>& by_row) {
  const Source chunk = support::layouts().front().make(support::random_matrix(4, 3, 10), 4);
  Context context(1);
  const std::vector<ByteView> views(by_row.begin(), by_row.end());
  const Bytes bytes = shared.take();
  support::expect_error(ErrorCode::internal, {}, [&] { remote_partial(pass, bytes, views, &chunk, 4, 0, context); });
}

template <class T>
Bytes raw(const std::vector<T>& values) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
  return {first, first + values.size() * sizeof(T)};
}

Packer sight(const std::vector<Index>& columns, const std::vector<double>& scale) {
  Packer out;
  out.put(columns).put(scale).put(0);
  return out;
}

Packer centred(std::size_t centers) {
  Packer out = sight({}, {});
  out.put(std::vector<double>(centers)).put(std::vector<double>()).put(std::vector<double>(3)).put(false);
  return out;
}

TEST(Remote, WorkersCheckWhatTheyAreTold) {
  for (const auto& columns : std::vector<std::vector<Index>>{{0, 3}, {-1, 2}, {2, 1}, {1, 1}}) {
    Packer request = sight(columns, {});
    expect_refused("count_not_finite", request, {});
  }
  Packer scaled = sight({}, {1, 2}), more = sight({}, {}), fewer = centred(2), tall = centred(3), wide = centred(3);
  expect_refused("count_not_finite", scaled, {});
  expect_refused("count_not_finite", more.put(0), {});
  expect_refused("gram", fewer, {});
  expect_refused("multiply", tall.put(Matrix(4, 2)), {});
  expect_refused("multiply_transposed", wide.put(Index{1} << 60), {raw(std::vector<double>(4))});
  Packer falling = sight({}, {});
  expect_refused("take_rows", falling.put(std::vector<Index>{3, 1}), {});
  const std::vector<int> none(4, -1);
  for (const int label : {-2, 2}) {
    Packer moves = centred(3), sums;
    expect_refused("move_rows", moves.put(Index{2}), {raw(none), raw(std::vector<int>{0, 1, label, -1})});
    sums.put(Index{1}).put(Index{2}).put(std::uint8_t{1}).put(std::vector<RowLabels::Moved>());
    expect_refused("sum_clusters", sums, {raw(std::vector<double>(kPanel)), raw(std::vector<int>{0, 1, label, -1})});
  }
}

// `answer` is what a pass of that name is said to result in.
template <class Ask>
void expect_answer_refused(const std::string& pass, const Bytes& answer, Ask ask) {
  const Matrix x = support::random_matrix(16, 3, 10);
  Workers workers(x, support::layouts().front().make, 4, 4);
  const Source remote(std::make_shared<RemoteStore>(
      RemoteShape{16, 3, false, 48, DType::f64},
      [&](const RemoteCall& call) {
        RemoteResults results = workers.run(call);
        if (call.pass == pass) results.parts.front() = {answer, nullptr};
        return results;
      },
      4));
  Context context(1);
  const Centered z(remote, std::vector<double>(3), 1.0);
  support::expect_error(ErrorCode::internal, {pass}, [&] { ask(z, context); });
}

TEST(Remote, ClientsCheckWhatTheyGet) {
  const auto sums = [](std::size_t pieces, const Matrix& each) {
    return Packer().put(std::vector<Matrix>(pieces, each)).take();
  };
  for (const Bytes& answer : {sums(0, {}), sums(2, Matrix(4, 4)), sums(1, Matrix(3, 4)), sums(1, Matrix(4, 3))}) {
    expect_answer_refused("sweep", answer,
                          [](const Centered& z, Context& context) { scatter_product(z, Matrix(3, 2), context); });
  }
  expect_answer_refused("gram", sums(1, Matrix(2, 2)), [](const Centered& z, Context& context) { gram(z, context); });
  expect_answer_refused("move_rows", sums(1, Matrix(3, 3)), [](const Centered& z, Context& context) {
    Matrix clusters(2, 3);
    move_rows(z, std::vector<int>(16, -1), std::vector<int>(16, 1), clusters, context);
  });
  expect_answer_refused("multiply", Packer().put(Matrix(16, 3)).take(),
                        [](const Centered& z, Context& context) { multiply(z, Matrix(3, 2), context); });
  for (const auto& counts : std::vector<std::vector<Index>>{{0, 0}, {0, 0, 17}, {0, -1, 0}}) {
    expect_answer_refused("count_not_finite", Packer().put(counts).take(),
                          [](const Centered& z, Context& context) { count_not_finite(z.source(), context); });
  }
}

}  // namespace
}  // namespace tamis
