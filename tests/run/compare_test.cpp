#include "tamis/run/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <new>

#include "tamis/base/resident.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

constexpr Index kPlanted = 4;

// Three far-apart groups in the first four columns, noise elsewhere.
Matrix planted(Index rows = 90, Index cols = 40) {
  Matrix x = support::random_matrix(rows, cols, 5);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < kPlanted; ++j) x(i, j) += 8.0 * static_cast<double>((i + j) % 3);
  }
  return x;
}

std::vector<int> classes_of(Index rows) {
  std::vector<int> classes;
  for (Index i = 0; i < rows; ++i) classes.push_back(static_cast<int>(i % 3));
  return classes;
}

// Ranks 0, 1, 2, ... or backwards, or does not rank at all.
struct Behaviour {
  Index clusters = 0;
  Index aimed = 0;
  double turn = 0.0;  // 1: backwards
};

template <class Run>
class Stub : public BoundMethod {
 public:
  std::unique_ptr<BoundMethod> copy() const override { return std::make_unique<Stub>(*this); }
  Options options() override {
    return {{"clusters", "", &state_.clusters, {1.0}, {}, "", ""}, {"turn", "", &state_.turn, {0.0, 1.0}, {}, "", ""}};
  }
  void supervise(const std::vector<int>&) override {}
  void aim_at(Index features) override { state_.aimed = features; }
  Plan plan(const Shape& shape, int threads) const override { return {shape, Code::moments, threads}; }
  Selection run(const Source& source, Context&) const override { return Run()(source, state_); }

 private:
  Behaviour state_;
};

struct InOrder {
  Selection operator()(const Source& source, const Behaviour& state) const {
    Selection found;
    for (Index j = 0; j < source.cols(); ++j) {
      const auto place = static_cast<double>(j + 1);
      found.scores.push_back(state.turn == 1.0 ? place : 1.0 / place);
    }
    found.ranking = rank_by_score(found.scores);
    found.report.resolved = {{"saw clusters", static_cast<double>(state.clusters)},
                             {"saw aim", static_cast<double>(state.aimed)}};
    return found;
  }
};
struct Fails {
  Selection operator()(const Source&, const Behaviour&) const { fail(ErrorCode::resources, "stub: needs more"); }
};
struct RunsOut {
  Selection operator()(const Source&, const Behaviour&) const { throw std::bad_alloc(); }
};
struct Interrupted {
  Selection operator()(const Source&, const Behaviour&) const { fail(ErrorCode::interrupted, "interrupted"); }
};

template <class Run>
Method stub(const std::string& name) {
  return {name, "", "", "", "", [] { return std::unique_ptr<BoundMethod>(std::make_unique<Stub<Run>>()); }};
}

CompareRequest labelled_request() {
  CompareRequest request;
  request.methods = {stub<InOrder>("first")};
  request.sizes = {2, kPlanted};
  request.clusters = 3;
  request.classes = classes_of(90);
  return request;
}

Comparison compare(const CompareRequest& request, int threads = 2) {
  Context context(threads, 0);
  return compare_methods(support::dense(planted()), request, context);
}

TEST(Compare, FindingThePlantedColumnsBeatsRandomOnes) {
  CompareRequest request = labelled_request();
  request.methods.push_back(stub<InOrder>("last"));
  request.settings["last"]["turn"] = "1";
  Context context(2, 0);
  const auto found = compare_methods(support::dense(planted(90, 400)), request, context);
  ASSERT_EQ(found.methods.size(), 2u);
  const ComparedMethod &first = found.methods[0], &last = found.methods[1];
  EXPECT_EQ(first.selected, (std::vector<Index>{0, 1, 2, 3}));
  EXPECT_EQ(last.selected, (std::vector<Index>{399, 398, 397, 396}));
  for (std::size_t s = 0; s < request.sizes.size(); ++s) {
    EXPECT_EQ(found.random[s].features, request.sizes[s]);
    EXPECT_GT(first.sizes[s].score.accuracy.mean, found.random[s].accuracy.mean + found.random[s].accuracy.sd);
    EXPECT_GT(first.sizes[s].score.accuracy.mean, last.sizes[s].score.accuracy.mean + 0.2);
    EXPECT_GE(last.sizes[s].accuracy_p, 1.0 / 21);
    EXPECT_LE(first.sizes[s].accuracy_p, 2.0 / 21);
    EXPECT_GT(last.sizes[s].accuracy_p, first.sizes[s].accuracy_p);
  }
  ASSERT_TRUE(found.all.has_value());
  EXPECT_EQ(found.all->features, 400);
}

TEST(Compare, ScoresAreThoseOfEvaluate) {
  const CompareRequest request = labelled_request();
  Context context(2, 0);
  EvaluateOptions options;
  options.clusters = 3;
  const Source source = support::dense(planted());
  const auto wanted = evaluate_features(source, request.classes, {0, 1, 2, 3}, options, context);
  const auto found = compare_methods(source, request, context);
  EXPECT_EQ(found.methods[0].sizes[1].score.accuracy.mean, wanted.given.accuracy.mean);
  EXPECT_EQ(found.methods[0].sizes[1].score.nmi.sd, wanted.given.nmi.sd);
  EXPECT_EQ(found.methods[0].sizes[1].score.redundancy, wanted.given.redundancy);
  EXPECT_EQ(found.all->accuracy.mean, wanted.all->accuracy.mean);
}

TEST(Compare, TellsMethodsTheClustersAndTheLargestSize) {
  const auto resolved = compare(labelled_request()).methods[0].report.resolved;
  EXPECT_EQ(resolved[0].second, 3.0);
  EXPECT_EQ(resolved[1].second, static_cast<double>(kPlanted));
  CompareRequest request = labelled_request();
  request.settings["first"]["clusters"] = "7";
  EXPECT_EQ(compare(request).methods[0].report.resolved[0].second, 7.0);
}

TEST(Compare, AFailingMethodIsARow) {
  CompareRequest request = labelled_request();
  request.methods = {stub<Fails>("fails"), stub<RunsOut>("runs out"), stub<InOrder>("works")};
  const auto found = compare(request);
  ASSERT_EQ(found.methods.size(), 3u);
  ASSERT_TRUE(found.methods[0].failure.has_value());
  EXPECT_EQ(found.methods[0].failure->reason.text(), "stub: needs more");
  EXPECT_EQ(found.methods[0].failure->code, ErrorCode::resources);
  EXPECT_TRUE(found.methods[0].sizes.empty());
  ASSERT_TRUE(found.methods[1].failure.has_value());
  EXPECT_EQ(found.methods[1].failure->code, ErrorCode::resources);
  EXPECT_FALSE(found.methods[2].failure.has_value());
  EXPECT_EQ(found.methods[2].sizes.size(), 2u);
}

TEST(Compare, AnInterruptionEndsIt) {
  CompareRequest request = labelled_request();
  request.methods = {stub<Interrupted>("stops")};
  support::expect_error(ErrorCode::interrupted, {"interrupted"}, [&] { compare(request); });
}

TEST(Compare, WithoutClassesOnlyTheRedundancyIsMeasured) {
  CompareRequest request = labelled_request();
  request.classes.clear();
  const auto found = compare(request);
  // By the definition: the mean of |correlation|, here of one pair.
  const auto z = support::centered(planted());
  long double aa = 0, bb = 0, ab = 0;
  for (Index i = 0; i < z.rows(); ++i) aa += z(i, 0) * z(i, 0), bb += z(i, 1) * z(i, 1), ab += z(i, 0) * z(i, 1);
  const SubsetScore& score = found.methods[0].sizes[0].score;
  ASSERT_TRUE(score.redundancy.has_value());
  EXPECT_NEAR(*score.redundancy, static_cast<double>(std::abs(ab) / std::sqrt(aa * bb)), 1e-12);
  EXPECT_EQ(score.accuracy.mean, 0.0);
  EXPECT_LT(*found.random[0].redundancy, *score.redundancy);
}

TEST(Compare, SameBitsAtAnyThreadCount) {
  CompareRequest request = labelled_request();
  request.methods = methods();
  request.grid = true;
  request.repeats = 3;
  const auto one = compare(request, 1);
  for (const int threads : {2, 3}) {
    const auto other = compare(request, threads);
    for (std::size_t m = 0; m < one.methods.size(); ++m) {
      EXPECT_EQ(one.methods[m].selected, other.methods[m].selected);
      for (std::size_t s = 0; s < one.methods[m].sizes.size(); ++s) {
        const SubsetScore &a = one.methods[m].sizes[s].score, &b = other.methods[m].sizes[s].score;
        EXPECT_EQ(a.accuracy.mean, b.accuracy.mean);
        EXPECT_EQ(a.nmi.sd, b.nmi.sd);
        EXPECT_EQ(a.redundancy, b.redundancy);
        EXPECT_EQ(summary_of(one.methods[m].grid, s).median, summary_of(other.methods[m].grid, s).median);
      }
    }
    for (std::size_t s = 0; s < one.random.size(); ++s) {
      EXPECT_EQ(one.random[s].accuracy.mean, other.random[s].accuracy.mean);
      EXPECT_EQ(one.random[s].accuracy.sd, other.random[s].accuracy.sd);
      EXPECT_EQ(one.random[s].redundancy, other.random[s].redundancy);
    }
    EXPECT_EQ(one.all->nmi.mean, other.all->nmi.mean);
  }
}

TEST(Compare, ScalingIsThatOfTheScaledTable) {
  Matrix x = planted(), y = planted();
  const double scale[] = {3, 100, 0.01};
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) x(i, j) *= scale[j % 3];
  }
  CompareRequest request = labelled_request();
  request.scale = Scaling::standard;
  Context context(2, 0);
  const auto a = compare_methods(support::dense(x), request, context);
  const auto b = compare_methods(support::dense(y), request, context);
  EXPECT_NEAR(a.methods[0].sizes[1].score.accuracy.mean, b.methods[0].sizes[1].score.accuracy.mean, 1e-12);
  EXPECT_NEAR(a.all->nmi.mean, b.all->nmi.mean, 1e-12);
}

TEST(Compare, RefusesWhatConcernsAll) {
  using enum ErrorCode;
  const auto refused = [](ErrorCode code, const std::vector<std::string>& words, auto change) {
    CompareRequest request = labelled_request();
    change(request);
    support::expect_error(code, words, [&] { compare(request); });
  };
  refused(usage, {"0", "1..40"}, [](auto& request) { request.sizes = {0}; });
  refused(usage, {"41", "1..40"}, [](auto& request) { request.sizes = {2, 41}; });
  refused(usage, {"increasing"}, [](auto& request) { request.sizes = {}; });
  refused(usage, {"91", "n = 90"}, [](auto& request) { request.clusters = 91; });
  refused(usage, {"89 labels", "n = 90"}, [](auto& request) { request.classes.pop_back(); });
  refused(bad_data, {"no row"}, [](auto& request) { request.classes.assign(90, -1); });
  refused(usage, {"grid", "labels"}, [](auto& request) { request.grid = true, request.classes.clear(); });
  refused(usage, {"0 methods"}, [](auto& request) { request.methods.clear(); });
  refused(usage, {"first", "twice"}, [](auto& request) { request.methods.push_back(request.methods[0]); });
  refused(usage, {"first", "nosuch", "clusters, turn"},
          [](auto& request) { request.settings["first"]["nosuch"] = "1"; });
  refused(usage, {"turn = 2"}, [](auto& request) { request.settings["first"]["turn"] = "2"; });
  refused(usage, {"other"}, [](auto& request) { request.settings["other"]["turn"] = "1"; });
  Matrix x = planted();
  x(3, 5) = std::nan("");
  Context context(1, 0);
  support::expect_error(bad_data, {}, [&] { compare_methods(support::dense(x), labelled_request(), context); });
}

TEST(Compare, ProgressCountsThePartsAndEndsWithThem) {
  Context context(2, 0);
  std::vector<std::string> parts;
  context.on_progress = [&](const Progress& progress) {
    const std::string part = progress.stage.substr(0, progress.stage.find(':'));
    if (parts.empty() || parts.back() != part) parts.push_back(part);
  };
  compare_methods(support::dense(planted()), labelled_request(), context);
  std::erase(parts, "");  // before the first part
  ASSERT_GE(parts.size(), 3u);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(parts[i], concat("compare, ", i + 1, " of ", parts.size()));
  }
  context.phase("mine");
  EXPECT_EQ(parts.back(), "") << "no part is under way any more";
}

TEST(Overlap, WorkedByHand) {
  // The first three: {4, 1, 2}, {2, 4, 0}, {5, 6, 7}; the first alone: 4, 2, 5.
  const std::vector<std::vector<Index>> rankings = {{4, 1, 2, 0}, {2, 4, 0, 1}, {5, 6, 7, 4}};
  const Matrix three = overlap(rankings, 3), one = overlap(rankings, 1), four = overlap(rankings, 4);
  for (Index a = 0; a < 3; ++a) {
    for (Index b = 0; b < 3; ++b) {
      EXPECT_EQ(three(a, b), three(b, a));
      EXPECT_EQ(one(a, b), a == b ? 1.0 : 0.0);
    }
  }
  EXPECT_EQ(three(0, 0), 1.0);
  EXPECT_DOUBLE_EQ(three(0, 1), 2.0 / 3.0);
  EXPECT_EQ(three(0, 2), 0.0);
  EXPECT_EQ(four(0, 1), 1.0);
  EXPECT_EQ(four(1, 2), 0.25);
}

TEST(Sizes, CountsFractionsAndDefaults) {
  EXPECT_EQ(resolve_sizes({}, 1000), (std::vector<Index>{20, 50, 100}));
  EXPECT_EQ(resolve_sizes({}, 64), (std::vector<Index>{20, 50, 64}));
  EXPECT_EQ(resolve_sizes({}, 12), (std::vector<Index>{12}));
  EXPECT_EQ(resolve_sizes({{50, {}}, {5, {}}, {{}, 0.05}, {{}, 0.5}}, 100), (std::vector<Index>{5, 50}));
  support::expect_error(ErrorCode::usage, {"101", "1..100"}, [] { resolve_sizes({{101, {}}}, 100); });
}

GridRun grid_run(const std::string& value, double accuracy) {
  GridRun run;
  run.settings["alpha"] = value;
  run.sizes.resize(1);
  run.sizes[0].accuracy.mean = accuracy;
  return run;
}

TEST(Grid, SummaryWorkedByHand) {
  std::vector<GridRun> grid = {grid_run("a", 0.4), grid_run("b", 0.9), grid_run("c", 0.1), grid_run("d", 0.9)};
  grid.emplace_back().failure = Failure{ErrorCode::resources, "too much"};
  const auto found = summary_of(grid, 0);
  EXPECT_EQ(found.evaluations, 4);
  EXPECT_EQ(found.best, 0.9);
  EXPECT_DOUBLE_EQ(found.median, 0.65);
  EXPECT_EQ(found.worst, 0.1);
  EXPECT_EQ(found.best_settings.at("alpha"), "b");
  EXPECT_EQ(summary_of({grid[4]}, 0).evaluations, 0);
}

// The table of axes must name options as the methods do, and values they take.
TEST(Grid, AxesAreOptionsOfTheMethods) {
  for (const auto& method : methods()) {
    for (const auto& axis : grid_axes(method)) {
      const auto bound = method.bind();
      const Options options = bound->options();
      const Option* option = find_option(options, axis.option);
      ASSERT_NE(option, nullptr) << axis.method << "." << axis.option;
      for (const auto& value : axis.values) EXPECT_NO_THROW(set_from_text(*option, method.name, value));
    }
  }
}

TEST(Grid, RunsEveryCombinationLessWhatIsSet) {
  CompareRequest request = labelled_request();
  request.methods = {find_method("ufcm")};
  request.grid = true;
  request.repeats = 1;
  EXPECT_EQ(compare(request).methods[0].grid.size(), 18u);
  request.settings["ufcm"]["alpha"] = "0.5";
  const auto grid = compare(request).methods[0].grid;
  EXPECT_EQ(grid.size(), 6u);
  for (const auto& run : grid) EXPECT_FALSE(run.settings.contains("alpha"));
}

TEST(ResidentGrowth, SeesThePeakOfWhatWasFreedAgain) {
  constexpr std::size_t kBytes = 64 << 20;
  for (int round = 0; round < 2; ++round) {  // the second must not hide behind the first
    const ResidentGrowth growth;
    { const std::vector<char> block(kBytes, 1); }
    const auto bytes = growth.bytes();
    ASSERT_TRUE(bytes);
    EXPECT_GE(*bytes, kBytes * 9 / 10);
    EXPECT_LE(*bytes, kBytes * 2);
  }
}

}  // namespace
}  // namespace tamis
