#include "tamis/run/stability/repeats.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include "tamis/base/error.h"
#include "tamis/data/passes/sample.h"
#include "tamis/data/stores/temporary_rows.h"
#include "tamis/run/select.h"
#include "tamis/run/settings.h"
#include "tests/support/tables.h"
#include "tests/support/workers.h"

namespace tamis {
namespace {

constexpr Index kRuns = 4;
constexpr Index kSeed = 5;

// Groups in the first 8 of 20 columns; the last is constant.
Matrix grouped_table(Index rows = 120) {
  Matrix x = support::mixture(rows, 20, 3, 8, 2.0, 9);
  for (Index i = 0; i < rows; ++i) x(i, 19) = 4.0;
  return x;
}

struct Job {
  std::string method = "ufcm";
  Index clusters = 3;
  SelectRequest request = {};
  int threads = 1;
  std::uint64_t seed = kSeed;
  std::uint64_t memory = 0;
};

SelectResult run(const Source& source, const Job& job) {
  Context context(job.threads, job.seed);
  context.memory_limit = job.memory;
  const Method& method = find_method(job.method);
  const auto bound = bound_with(method, job.clusters, {});
  return select_features(source, method, *bound, job.request, context);
}

Job job_of(const std::string& method, bool resampled, Index features = 5) {
  Job job;
  job.method = method;
  job.request.features.count = features;
  (resampled ? job.request.resample : job.request.seeds) = kRuns;
  return job;
}

Matrix rows_of(const Matrix& x, const std::vector<Index>& rows) {
  Matrix out(static_cast<Index>(rows.size()), x.cols());
  for (std::size_t i = 0; i < rows.size(); ++i) std::copy_n(x.row(rows[i]), x.cols(), out.row(static_cast<Index>(i)));
  return out;
}

// Runs one after the other, by hand.
std::vector<Choice> twin(const Matrix& x, Job job) {
  std::vector<Choice> out;
  const bool resampled = job.request.resample.has_value();
  job.request.seeds.reset(), job.request.resample.reset();
  for (Index i = 0; i < kRuns; ++i) {
    Job one = job;
    if (!resampled) one.seed += static_cast<std::uint64_t>(i);
    const Matrix seen = resampled ? rows_of(x, half_of_rows(x.rows(), job.seed, i)) : x;
    const SelectResult found = run(source_over(seen), one);
    out.push_back(choice_of(found.ranking, found.selected));
  }
  return out;
}

// NaN, of an excluded column, as -1.
std::vector<double> comparable(std::vector<double> values) {
  std::ranges::replace_if(
      values, [](double value) { return std::isnan(value); }, -1.0);
  return values;
}

void expect_same(const Stability& a, const Stability& b) {
  EXPECT_EQ(a.runs, b.runs);
  EXPECT_EQ(comparable(a.frequency), comparable(b.frequency));
  EXPECT_EQ(comparable(a.mean_rank), comparable(b.mean_rank));
  EXPECT_EQ(a.rank_low, b.rank_low);
  EXPECT_EQ(a.rank_high, b.rank_high);
  EXPECT_EQ(a.consensus, b.consensus);
  EXPECT_EQ(a.counts, b.counts);
  ASSERT_EQ(a.index.has_value(), b.index.has_value());
  if (!a.index) return;
  EXPECT_EQ(a.index->value, b.index->value);
  EXPECT_EQ(a.index->variance, b.index->variance);
}

class EveryMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, SeedsAreRunsWithTheNextSeeds) {
  const Job job = job_of(GetParam(), false);
  if (!find_method(GetParam()).seeded) {
    EXPECT_THROW(run(source_over(grouped_table()), job), Error);
    return;
  }
  const SelectResult found = run(source_over(grouped_table()), job);
  ASSERT_TRUE(found.stability);
  EXPECT_FALSE(found.stability->resampled);
  EXPECT_EQ(found.stability->rows, 120);
  expect_same(*found.stability, stability_of(twin(grouped_table(), job)));
}

TEST_P(EveryMethod, HalfSamplesAreRunsOnHalfOfTheRows) {
  const Job job = job_of(GetParam(), true);
  const SelectResult found = run(source_over(grouped_table()), job);
  ASSERT_TRUE(found.stability);
  EXPECT_TRUE(found.stability->resampled);
  EXPECT_EQ(found.stability->rows, 60);
  expect_same(*found.stability, stability_of(twin(grouped_table(), job)));
}

// A method that says so draws no random numbers, whatever the shape.
TEST_P(EveryMethod, WithoutASeedDoesNotDependOnIt) {
  if (find_method(GetParam()).seeded) return;
  for (const Index rows : {60, 5000}) {
    Job job = job_of(GetParam(), true);
    job.request.resample.reset();
    const Source source = source_over(grouped_table(rows));
    const SelectResult first = run(source, job);
    job.seed = 77;
    EXPECT_EQ(first.scores, run(source, job).scores);
  }
}

std::vector<std::string> names_of_methods() {
  std::vector<std::string> names;
  for (const auto& method : methods()) names.push_back(method.name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(Repeats, EveryMethod, testing::ValuesIn(names_of_methods()),
                         [](const auto& method) { return method.param; });

TEST(Repeats, LeaveTheSelectionAsItIs) {
  for (const bool resampled : {false, true}) {
    Job job = job_of("guided", resampled);
    const Source source = source_over(grouped_table());
    const SelectResult with = run(source, job);
    job.request.seeds.reset(), job.request.resample.reset();
    const SelectResult without = run(source, job);
    EXPECT_FALSE(without.stability);
    EXPECT_EQ(with.scores, without.scores);
    EXPECT_EQ(with.ranking, without.ranking);
    EXPECT_EQ(with.selected, without.selected);
    EXPECT_EQ(with.selection.guidance->evidence, without.selection.guidance->evidence);
  }
}

TEST(Repeats, AreTheSameAtAnyNumberOfThreads) {
  for (const bool resampled : {false, true}) {
    Job job = job_of("ufcm", resampled);
    const Source source = source_over(grouped_table(5000));
    const SelectResult one = run(source, job);
    job.threads = 4;
    expect_same(*one.stability, *run(source, job).stability);
  }
}

TEST(Repeats, HalfSamplesDifferAndHaveHalfOfTheRows) {
  std::set<std::vector<Index>> seen;
  std::vector<Index> drawn(11, 0);
  for (Index number = 0; number < 400; ++number) {
    const auto rows = half_of_rows(11, 3, number);
    ASSERT_EQ(rows.size(), 5U);
    EXPECT_TRUE(std::ranges::is_sorted(rows));
    for (const Index i : rows) ++drawn[static_cast<std::size_t>(i)];
    seen.insert(rows);
  }
  EXPECT_GT(seen.size(), 200U);
  for (const Index count : drawn) EXPECT_NEAR(static_cast<double>(count), 400 * 5.0 / 11, 60);
}

// --- Where the rows are ----------------------------------------------------------------------------------------------

Source on_disk_of(const Matrix& x) {
  TemporaryRows rows(x.cols(), DType::f64);
  rows.add(view_of(x));
  return on_disk(rows.finish(), Context(1, 0));
}

TEST(Repeats, AreTheSameFromDisk) {
  const Matrix x = grouped_table(5000);
  for (const bool resampled : {false, true}) {
    const Job job = job_of("ufcm", resampled);
    expect_same(*run(source_over(x), job).stability, *run(on_disk_of(x), job).stability);
  }
}

// Half samples that the limit has no room for are in temporary files.
TEST(Repeats, AreTheSameWhereMemoryIsShort) {
  const Matrix x = grouped_table(60000);
  for (const bool excluding : {false, true}) {
    Job job = job_of("maxvar", true);
    if (excluding) job.request.exclude = {2, 6};
    const SelectResult free = run(source_over(x), job);
    job.memory = free.forecast.peak_bytes + 1000;
    expect_same(*free.stability, *run(source_over(x), job).stability);
    const char* const before = std::getenv("TMPDIR");
    const std::string place = before == nullptr ? "/tmp" : before;
    setenv("TMPDIR", "/nowhere", 1);
    EXPECT_THROW(run(source_over(x), job), Error);
    setenv("TMPDIR", place.c_str(), 1);
  }
}

TEST(Repeats, RowsInTemporaryFilesAreThoseInMemory) {
  const Matrix x = support::thinned(grouped_table(5000), 0.3, 4);
  Context context(2, 0);
  const std::vector<Index> rows = half_of_rows(5000, 1, 0);
  for (const bool sparse : {false, true}) {
    Source source = sparse ? support::sparse<double>(x) : source_over(x);
    source = source.with_columns({0, 3, 4, 11}).with_column_scale({1, 2, 3, 4});
    std::vector<double> scale(5000);
    for (std::size_t i = 0; i < scale.size(); ++i) scale[i] = 1.0 + static_cast<double>(i);
    source = source.with_row_scale(scale);
    const Source here = take_rows(source, rows, context), there = take_rows_to_disk(source, rows, context);
    EXPECT_EQ(there.sparse(), sparse);
    EXPECT_FALSE(there.store().in_memory());
    const Matrix a = gather(here, context), b = gather(there, context);
    ASSERT_EQ(a.rows(), b.rows());
    EXPECT_TRUE(std::equal(a.data(), a.data() + a.size(), b.data()));
  }
}

TEST(Repeats, AreTheSameWhereTheRowsLiveElsewhere) {
  const Matrix x = grouped_table(5000);
  const auto dense = [](const Matrix& some, Index block_rows) {
    const auto owner = std::make_shared<const Matrix>(some);
    return Source(make_dense_store(view_of(*owner), owner, block_rows));
  };
  std::vector<std::unique_ptr<support::Workers>> halves;
  support::Workers workers(x, dense, kBlockRows, 1);
  const RemoteShape shape{x.rows(), x.cols(), false, x.size(), DType::f64};
  const auto take = [&](const std::vector<Index>& rows) -> std::shared_ptr<const Store> {
    const Matrix some = rows_of(x, rows);
    support::Workers& half = *halves.emplace_back(std::make_unique<support::Workers>(some, dense, kBlockRows, 1));
    const RemoteShape its{some.rows(), some.cols(), false, some.size(), DType::f64};
    return std::make_shared<RemoteStore>(its, [&half](const RemoteCall& call) { return half.run(call); });
  };
  const auto ask = [&](const RemoteCall& call) { return workers.run(call); };
  for (const bool resampled : {false, true}) {
    Job job = job_of("ufcm", resampled);
    job.request.exclude = {1, 12};
    const auto here = run(source_over(x), job);
    const Source there(std::make_shared<RemoteStore>(shape, ask, kBlockRows, take));
    expect_same(*here.stability, *run(there, job).stability);
    EXPECT_EQ(halves.size(), resampled ? static_cast<std::size_t>(kRuns) : 0U);
    const Source cannot(std::make_shared<RemoteStore>(shape, ask));
    expect_same(*here.stability, *run(cannot, job).stability);  // gathered here
  }
}

// --- What the request says ------------------------------------------------------------------------------------------

TEST(Repeats, CountNoColumnsThatWereExcludedOrForced) {
  Job job = job_of("ufcm", true);
  job.request.exclude = {0, 3};
  job.request.include = {15, 17};
  const SelectResult found = run(source_over(grouped_table()), job);
  const RepeatedRuns& runs = *found.stability;
  for (const std::size_t j : {0U, 3U}) {
    EXPECT_TRUE(std::isnan(runs.frequency[j]));
    EXPECT_EQ(runs.rank_low[j], -1);
    EXPECT_EQ(runs.rank_high[j], -1);
  }
  EXPECT_EQ(runs.frequency[15], 1.0);
  EXPECT_EQ(runs.frequency[17], 1.0);
  EXPECT_EQ(runs.consensus.size(), 18U);
  EXPECT_EQ(std::ranges::count(runs.consensus, Index{0}), 0);
  EXPECT_EQ(runs.frequency[19], 0.0);  // constant
  EXPECT_EQ(runs.rank_high[19], 18);

  Job without = job;
  without.request.exclude.clear();
  std::vector<Index> kept;
  for (Index j = 0; j < 20; ++j) {
    if (j != 0 && j != 3) kept.push_back(j);
  }
  without.request.include = {13, 15};
  const auto other = run(source_over(support::columns_of(grouped_table(), kept)), without);
  EXPECT_EQ(runs.index->value, other.stability->index->value);
}

TEST(Repeats, HaveNoIndexWhereAllColumnsAreSelected) {
  Job job = job_of("ufcm", true);
  job.request.features = {};
  const SelectResult found = run(source_over(grouped_table()), job);
  EXPECT_FALSE(found.stability->index);
  EXPECT_EQ(found.stability->frequency, std::vector<double>(20, 1.0));
  EXPECT_NE(stability_text(found).find("needs columns that are left out"), std::string::npos);
}

TEST(Repeats, MayTakeAnotherNumberOfColumnsInEachRun) {
  Job job = job_of("guided", true);
  job.request.features = {};
  const SelectResult found = run(source_over(support::mixture(150, 90, 4, 60, 1.2, 3)), job);
  EXPECT_EQ(found.stability->counts.size(), static_cast<std::size_t>(kRuns));
  Job counted = job_of("maxvar", false);  // the guide draws random numbers where the method does not
  counted.request.features = {{}, {}, FeatureCount::Otherwise::automatic};
  EXPECT_TRUE(run(source_over(grouped_table()), counted).stability);
}

TEST(Repeats, SuperviseAndStartEachHalfByItsOwnRows) {
  const Matrix x = grouped_table();
  Job job = job_of("ufcm", true);
  for (Index i = 0; i < x.rows(); ++i) job.request.classes.push_back(static_cast<int>(i % 3));
  EXPECT_EQ(run(source_over(x), job).stability->rows, 60);
  job = job_of("ndfs", true);
  job.request.init = Matrix(x.rows(), 3);
  for (Index i = 0; i < x.rows(); ++i) job.request.init(i, i % 3) = 1;
  EXPECT_EQ(run(source_over(x), job).stability->rows, 60);
}

TEST(Repeats, AreRefusedWhereTheyCannotBe) {
  const auto refuses = [](const Job& job, const Matrix& x, const std::string& words) {
    try {
      run(source_over(x), job);
      FAIL() << words;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_NE(error.message().text().find(words), std::string::npos) << error.message().text();
    }
  };
  Job job;
  for (const Index count : {-1, 0, 1, 1001}) {
    job.request.seeds = count;
    refuses(job, grouped_table(), concat("seeds = ", count, ", need 2..1000"));
  }
  job.request.seeds = 2, job.request.resample = 2;
  refuses(job, grouped_table(), "--seeds and --resample: need one of them, not both");
  job.request.seeds.reset();
  job.request.checkpoint = "c";
  refuses(job, grouped_table(), "--checkpoint does not cover the runs of --resample");
  job.request.checkpoint.clear();
  refuses(job, grouped_table(3), "--resample needs at least 4 rows");
  job.clusters = 4;
  refuses(job, grouped_table(6), "half sample 1 of 2: ufcm: ");
  Job seedless = job_of("maxvar", false);
  refuses(seedless, grouped_table(),
          "maxvar does not depend on the seed, so --seeds would say nothing; use --resample 4");
}

// --- On the way -----------------------------------------------------------------------------------------------------

TEST(Repeats, TellTheirProgressAndStopWhereTheyAreToldTo) {
  for (const bool resampled : {false, true}) {
    const std::string third = resampled ? "half sample 3 of 4" : "seed 3 of 4";
    Context context(1, kSeed);
    bool stop = false;
    std::vector<std::string> warnings;
    context.between_progress = std::chrono::milliseconds(0);
    context.on_progress = [&](const Progress& at) { stop = stop || at.stage.starts_with(third); };
    context.is_cancelled = [&] { return stop; };
    context.on_warning = [&](const Warning& warning) { warnings.push_back(warning.text()); };
    const Method& method = find_method("ufcm");
    const auto bound = bound_with(method, 3, {{"iterations", "2"}, {"tolerance", "1e-12"}});
    try {
      select_features(source_over(grouped_table()), method, *bound, job_of("ufcm", resampled).request, context);
      FAIL();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::interrupted);
    }
    EXPECT_TRUE(stop);
    EXPECT_EQ(context.seed, static_cast<std::uint64_t>(kSeed));
    EXPECT_TRUE(context.on_warning);
    EXPECT_EQ(std::ranges::count_if(warnings, [](const auto& line) { return line.find("not converged") != line.npos; }),
              1);
  }
}

TEST(Repeats, AreInTheForecast) {
  const Source source = source_over(grouped_table(4000));
  const auto cost = [&](const SelectRequest& request) {
    const auto bound = bound_with(find_method("ufcm"), 3, {});
    return plan_of_run(*bound, shape_of(source), request, 1);
  };
  const Plan one = cost({}), seeds = cost(job_of("ufcm", false).request), halves = cost(job_of("ufcm", true).request);
  EXPECT_DOUBLE_EQ(seeds.seconds, kRuns * one.seconds);
  EXPECT_DOUBLE_EQ(seeds.passes, kRuns * one.passes);
  EXPECT_GT(halves.seconds, 2 * one.seconds);
  EXPECT_LT(halves.seconds, kRuns * one.seconds + one.seconds);
  EXPECT_DOUBLE_EQ(halves.passes, one.passes + kRuns);
}

TEST(Repeats, SayInWordsHowManyColumnsStay) {
  SelectResult result;
  result.selected = {0, 1, 2};
  RepeatedRuns& found = result.stability.emplace();
  found.runs = 5;
  found.frequency = {1.0, 0.8, 0.6, 0.6};
  found.index = StabilityIndex{0.808, 0.01, 0.741, 0.88};
  EXPECT_EQ(stability_text(result),
            "2 of 3 selected columns are chosen by at least 4 of 5 seeds; Nogueira's index 0.81 [0.74, 0.88]");
  found.runs = 2, found.frequency = {1.0, 0.5, 0.5, 1.0}, found.resampled = true;
  EXPECT_EQ(stability_text(result),
            "1 of 3 selected columns is chosen by all 2 half samples; Nogueira's index 0.81 [0.74, 0.88]");
  found.index = StabilityIndex{-0.001, 0.01, -0.32, 0.0062};
  EXPECT_TRUE(stability_text(result).ends_with("index 0 [-0.32, 0.01]")) << stability_text(result);
  found.same = true, found.resampled = false;
  EXPECT_EQ(stability_text(result), "all 2 seeds give the same ranking and select the same columns");
}

}  // namespace
}  // namespace tamis
