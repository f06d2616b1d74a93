// What every method of the registry owes its callers, whatever its formula.
#include <gtest/gtest.h>

#include <chrono>
#include <limits>

#include "tamis/select/registry.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"
#include "tests/support/workers.h"

namespace tamis {
namespace {

class Contract : public testing::TestWithParam<std::string> {
 protected:
  static constexpr const char* kExact = "ufcm_exact";  // W of k rows, another method in all but its name
  bool exact() const { return GetParam() == kExact; }
  std::string name() const { return exact() ? "ufcm" : GetParam(); }
  // Dense against sparse, and block sizes: 1e-5 of the largest score (RUFS 1e-3).
  double tolerance() const { return name() == "rufs" ? 1e-3 : 1e-5; }

  static const Option* find(const Options& options, const std::string& name) {
    for (const Option& option : options) {
      if (option.name == name) return &option;
    }
    return nullptr;
  }

  // The method with small settings where it has them.
  std::unique_ptr<BoundMethod> method(const std::vector<std::pair<std::string, std::string>>& settings = {}) const {
    auto bound = find_method(name()).bind();
    const Options options = bound->options();
    std::vector<std::pair<std::string, std::string>> all = {{"clusters", "3"}};
    all.insert(all.end(), settings.begin(), settings.end());
    for (const auto& [option, value] : all) {
      if (const Option* found = find(options, option)) set_from_text(*found, name(), value);
    }
    if (exact()) {
      set_from_text(*find(options, "exact"), name(), "yes");
      bound->aim_at(4);
    }
    return bound;
  }

  Selection run(const Source& source, int threads = 2) const {
    Context context(threads);
    const auto bound = method();
    if (exact()) bound->aim_at(std::min<Index>(4, source.cols()));
    return bound->run(source, context);
  }

  void expect_well_formed(const Selection& found, Index n, Index d) const {
    ASSERT_EQ(static_cast<Index>(found.scores.size()), d);
    ASSERT_TRUE(support::all_finite(found.scores));
    EXPECT_EQ(found.ranking, rank_by_score(found.scores));
    EXPECT_TRUE(found.clusters.empty() || static_cast<Index>(found.clusters.size()) == n);
    EXPECT_TRUE(support::all_finite(found.report.objective));
  }
};

// Structure with a few zeros, so that dense and sparse differ in what they store; n > d and n < d.
Matrix tall() { return support::thinned(support::mixture(61, 10, 3, 5, 4, 1), 0.8, 2); }
Matrix wide() { return support::thinned(support::mixture(22, 45, 3, 15, 4, 3), 0.8, 4); }

TEST_P(Contract, DenseAndSparseAndBlockSizesAgree) {
  for (const Matrix& x : {tall(), wide()}) {
    const Selection wanted = run(support::dense(x));
    expect_well_formed(wanted, x.rows(), x.cols());
    const double largest = support::largest(wanted.scores);
    EXPECT_GT(largest, 0);
    for (const Index block_rows : {Index{1}, Index{7}, x.rows(), kBlockRows}) {
      for (const Source& source :
           {support::dense(x, block_rows), support::fortran(x, block_rows), support::sparse(x, block_rows)}) {
        const Selection found = run(source);
        expect_well_formed(found, x.rows(), x.cols());
        EXPECT_LE(support::largest_difference(found.scores, wanted.scores), tolerance() * largest)
            << (source.sparse() ? "sparse" : "dense") << " in blocks of " << block_rows;
      }
    }
  }
}

TEST_P(Contract, AnyNumberOfThreadsGivesTheSameBits) {
  for (const Matrix& x : {tall(), wide()}) {
    for (const Index block_rows : {Index{1}, Index{7}, kBlockRows}) {
      for (const Source& source : {support::dense(x, block_rows), support::sparse(x, block_rows)}) {
        const Selection wanted = run(source, 1);
        for (const int threads : {2, 3, 4, 5}) {
          const Selection found = run(source, threads);
          EXPECT_TRUE(support::same_bits(found.scores, wanted.scores)) << threads << " threads";
          EXPECT_EQ(found.ranking, wanted.ranking);
          EXPECT_EQ(found.clusters, wanted.clusters);
          EXPECT_TRUE(support::same_bits(found.report.objective, wanted.report.objective));
          EXPECT_EQ(found.report.path, wanted.report.path);
        }
        // And so does a second run.
        EXPECT_TRUE(support::same_bits(run(source, 1).scores, wanted.scores));
      }
    }
  }
}

void expect_same_run(const Selection& found, const Selection& wanted, const std::string& where) {
  EXPECT_TRUE(support::same_bits(found.scores, wanted.scores)) << where;
  EXPECT_EQ(found.ranking, wanted.ranking) << where;
  EXPECT_EQ(found.clusters, wanted.clusters) << where;
  EXPECT_TRUE(support::same_bits(found.components, wanted.components)) << where;
  EXPECT_TRUE(support::same_bits(found.report.objective, wanted.report.objective)) << where;
  EXPECT_EQ(found.report.path, wanted.report.path) << where;
  EXPECT_EQ(found.report.passes, wanted.report.passes) << where;
}

TEST_P(Contract, RowsOnDiskGiveTheBitsOfMemory) {
  for (const Matrix& x : {tall(), wide()}) {
    for (const Index block_rows : {Index{7}, kBlockRows}) {  // several blocks, and one
      for (const Source& source : {support::dense(x, block_rows), support::sparse(x, block_rows)}) {
        const Source on_disk = support::left_on_disk(source);
        ASSERT_FALSE(on_disk.store().in_memory());
        ASSERT_EQ(on_disk.store().block_count(), source.store().block_count());
        expect_same_run(run(on_disk), run(source), source.sparse() ? "sparse" : "dense");
      }
    }
  }
}

// Those whose passes all run where the rows are; the others say that they cannot, at once and in one line.
TEST_P(Contract, RowsAtWorkersGiveTheBitsOfMemoryOrAreRefused) {
  const Matrix x = tall();
  for (const support::MakeSource& make :
       {support::MakeSource(support::dense<double>),
        support::MakeSource([](const Matrix&a, Index b) { return support::sparse(a, b); })}) {
    for (const Index blocks : {1, 2}) {
      support::Workers workers(x, make, 7, blocks);
      const Source rows = support::remote_source(workers, x, 7);
      if (find_method(name()).remote) {
        expect_same_run(run(rows), run(make(x, 7)), rows.sparse() ? "sparse" : "dense");
        EXPECT_FALSE(workers.calls.empty());
      } else {
        support::expect_error(ErrorCode::internal, {"cannot run where the rows are"}, [&] { run(rows); });
      }
    }
  }
}

TEST_P(Contract, TwinsOfOtherElementTypesAgree) {
  const Matrix x = support::whole_numbers(50, 8, 100, 5);
  const Selection wanted = run(support::dense(x));
  for (const auto& layout : support::layouts()) {
    const Source source = layout.make(x, kBlockRows);
    const Selection found = run(source);
    if (source.sparse()) {
      EXPECT_LE(support::largest_difference(found.scores, wanted.scores), tolerance() * support::largest(wanted.scores))
          << layout.name;
    } else {
      EXPECT_TRUE(support::same_bits(found.scores, wanted.scores)) << layout.name;
    }
  }
}

TEST_P(Contract, PermutingFeaturesPermutesScores) {
  for (const Matrix& x : {tall(), wide()}) {
    const std::vector<Index> order = support::shuffled(x.cols(), 6);
    const Matrix permuted = support::columns_of(x, order);
    for (const bool sparse : {false, true}) {
      const Selection a = run(sparse ? support::sparse(x) : support::dense(x));
      const Selection b = run(sparse ? support::sparse(permuted) : support::dense(permuted));
      std::vector<double> moved;
      for (const Index j : order) moved.push_back(a.scores[static_cast<std::size_t>(j)]);
      // RUFS leaves its W within a duality gap of 1e-8, so that rounding shows sooner.
      EXPECT_LE(support::largest_difference(moved, b.scores),
                (name() == "rufs" ? 1e-6 : 1e-9) * support::largest(a.scores))
          << (sparse ? "sparse" : "dense");
    }
  }
}

TEST_P(Contract, ConstantColumnsRankLast) {
  Matrix x = tall();
  for (Index i = 0; i < x.rows(); ++i) x(i, 1) = 0.1, x(i, 6) = 0;
  for (const Source& source : {support::dense(x), support::sparse(x), support::dense(x, 7)}) {
    const Selection found = run(source);
    expect_well_formed(found, x.rows(), x.cols());
    const double least = *std::min_element(found.scores.begin(), found.scores.end());
    const double tie = 1e-9 * support::largest(found.scores);
    EXPECT_LE(found.scores[1], least + tie);
    EXPECT_LE(found.scores[6], least + tie);
  }
}

TEST_P(Contract, DuplicateColumnsTie) {
  Matrix x = tall();
  for (Index i = 0; i < x.rows(); ++i) x(i, 8) = x(i, 2);
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    const Selection found = run(source);
    const auto place = [&](Index j) { return std::find(found.ranking.begin(), found.ranking.end(), j); };
    EXPECT_LT(place(2), place(8));
    if (name() == "mcfs") {
      EXPECT_EQ(found.scores[8], 0.0);                       // its path takes the lower index and leaves the copy at 0
    } else if (!find_method(name()).is_order && !exact()) {  // which leave a copy for later
      EXPECT_NEAR(found.scores[2], found.scores[8], 1e-9 * support::largest(found.scores));
    }
  }
}

TEST_P(Contract, NamesTheFirstValueThatIsNotFinite) {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Matrix x = tall();
    x(33, 4) = bad;
    x(40, 0) = bad;
    for (const Source& source : {support::dense(x, 7), support::sparse(x, 7)}) {
      support::expect_error(ErrorCode::bad_data, {"row 33, column 4"}, [&] { run(source); });
    }
  }
}

TEST_P(Contract, RefusesTablesWithoutVariation) {
  if (name() == "random" || name() == "allfea") return;
  for (const Source& source :
       {support::dense(Matrix(20, 4, 0.1)), support::sparse(Matrix(20, 4, 0.1)), support::sparse(Matrix(20, 4))}) {
    support::expect_error(ErrorCode::bad_data, {"no variation"}, [&] { run(source); });
  }
  support::expect_error(ErrorCode::bad_data, {"1 row"}, [&] {
    Context context(1);
    method({{"clusters", "1"}})->run(support::dense(support::random_matrix(1, 4, 1)), context);
  });
}

// Puts a number into an option past all checks.
void store(const OptionValue& where, double value) {
  if (const auto* real = std::get_if<double*>(&where)) **real = value;
  if (const auto* real = std::get_if<std::optional<double>*>(&where)) **real = value;
  if (const auto* whole = std::get_if<Index*>(&where)) **whole = static_cast<Index>(value);
  if (const auto* whole = std::get_if<std::optional<Index>*>(&where)) **whole = static_cast<Index>(value);
}

// Each described option outside its range is refused by a message that names it, as text and as a value.
TEST_P(Contract, RefusesOptionsOutOfRange) {
  const Source source = support::dense(tall());
  const std::size_t count = find_method(name()).bind()->options().size();
  for (std::size_t k = 0; k < count; ++k) {
    const Option probe = find_method(name()).bind()->options()[k];
    std::vector<std::string> bad = {""};
    const bool number =
        !std::holds_alternative<bool*>(probe.value) && !std::holds_alternative<std::string*>(probe.value);
    if (number) {
      bad.insert(bad.end(), {"abc", "nan", "inf", "-inf"});
      if (std::isfinite(probe.range.low))
        bad.push_back(concat(probe.range.low_open ? probe.range.low : probe.range.low - 1));
      if (std::isfinite(probe.range.high))
        bad.push_back(concat(probe.range.high_open ? probe.range.high : probe.range.high + 1));
    } else {
      bad.push_back("no such value");
    }
    for (const std::string& value : bad) {
      const auto bound = method();
      const Options options = bound->options();
      support::expect_error(ErrorCode::usage, {name(), options[k].name + " = " + value},
                            [&] { set_from_text(options[k], name(), value); });
    }
    // A value that went past the parser is caught at the entry of the method.
    if (std::holds_alternative<std::vector<Index>*>(probe.value)) continue;
    const auto refuse = [&](double value) {
      const auto bound = method();
      const Options options = bound->options();
      store(options[k].value, value);
      Context context(1);
      support::expect_error(ErrorCode::usage, {name(), options[k].name + " = "}, [&] { bound->run(source, context); });
    };
    const bool real =
        std::holds_alternative<double*>(probe.value) || std::holds_alternative<std::optional<double>*>(probe.value);
    if (real) refuse(std::numeric_limits<double>::quiet_NaN());
    if (number && std::isfinite(probe.range.low)) refuse(probe.range.low - 1);
    if (number && std::isfinite(probe.range.high)) refuse(probe.range.high + 1);
  }
}

TEST_P(Contract, ClustersAboveRowsAreRefused) {
  const auto bound = method({{"clusters", "62"}});
  const Options options = bound->options();
  if (find(options, "clusters") == nullptr) return;
  Context context(1);
  support::expect_error(ErrorCode::usage, {name(), "clusters = 62", "61"},
                        [&] { bound->run(support::dense(tall()), context); });
}

TEST_P(Contract, CancellationStops) {
  for (const int threads : {1, 3}) {
    Context context(threads);
    context.is_cancelled = [] { return true; };
    support::expect_error(ErrorCode::interrupted, {}, [&] { method()->run(support::dense(tall(), 7), context); });
  }
}

TEST_P(Contract, ReportsPathPassesAndSeconds) {
  const auto bound = method();
  Context context(2);
  const auto start = std::chrono::steady_clock::now();
  const Report report = bound->run(support::dense(tall()), context).report;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  EXPECT_GT(report.seconds, 0);
  EXPECT_LE(report.seconds, elapsed.count());
  EXPECT_GE(report.passes, 1);
  EXPECT_EQ(report.passes, context.passes());
  EXPECT_FALSE(report.path.empty());
  EXPECT_EQ(static_cast<Index>(report.objective.size()), report.iterations);
  const Options options = bound->options();
  const Option* most = find(options, "iterations");
  EXPECT_EQ(report.status == Status::direct, most == nullptr);
  if (most == nullptr) {
    EXPECT_EQ(report.iterations, 0);
  } else {
    EXPECT_GE(report.iterations, 1);
    EXPECT_LE(report.iterations, *std::get<Index*>(most->value));
  }
}

TEST_P(Contract, SurvivesAwkwardTables) {
  Matrix one = support::random_matrix(30, 1, 7), line(30, 5), repeated(30, 4), far = support::random_matrix(30, 4, 8);
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 5; ++j) line(i, j) = static_cast<double>((i + 1) * (j + 1));
    for (Index j = 0; j < 4; ++j)
      repeated(i, j) = static_cast<double>((i % 2) * (j + 1)), far(i, j) += i < 15 ? 1e8 : 0;
  }
  for (const Matrix& x : {one, line, repeated, far}) {
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      const Selection found = run(source);
      expect_well_formed(found, x.rows(), x.cols());
    }
  }
}

TEST_P(Contract, InputIsNotChanged) {
  Matrix x = tall();
  const Matrix before = x;
  run(Source(make_dense_store({x.data(), DType::f64, x.rows(), x.cols(), x.cols(), 1})));
  EXPECT_TRUE(support::same_bits(x, before));
}

std::vector<std::string> method_names() {
  std::vector<std::string> out;
  for (const Method& method : methods()) out.push_back(method.name);
  out.emplace_back("ufcm_exact");
  return out;
}

INSTANTIATE_TEST_SUITE_P(Methods, Contract, testing::ValuesIn(method_names()),
                         [](const auto& method) { return method.param; });

}  // namespace
}  // namespace tamis
