#include "tamis/run/select.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/run/profile.h"
#include "tests/support/seeds.h"

namespace tamis {
namespace {

constexpr Index kRows = 50;

// Column j is normal noise times 10^j, column 4 is constant.
Source noise_source(Index cols = 5) {
  auto data = std::make_shared<std::vector<double>>();
  const Random random = support::seeded(3, 0);
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < cols; ++j) {
      const double noise = random.normal(static_cast<std::uint64_t>(i * cols + j));
      data->push_back(j == 4 ? 7.0 : std::pow(10.0, static_cast<double>(j)) * (noise + 3.0));
    }
  }
  return Source(make_dense_store({data->data(), DType::f64, kRows, cols, cols, 1}, data));
}

// Scores a column by its variance, so that what the method was given can be read off.
class VarianceMethod : public BoundMethod {
 public:
  std::unique_ptr<BoundMethod> copy() const override { return std::make_unique<VarianceMethod>(*this); }
  Options options() override { return {}; }
  void supervise(const std::vector<int>&) override {}
  Plan plan(const Shape& shape, int threads) const override { return {shape, Code::moments, threads}; }
  Selection run(const Source& source, Context& context) const override {
    const auto moments = column_moments(source, context);
    Selection selection;
    for (Index j = 0; j < source.cols(); ++j) selection.scores.push_back(moments.variance(j));
    selection.ranking = rank_by_score(selection.scores);
    return selection;
  }
};

SelectResult select(const SelectRequest& request, std::vector<std::string>* warnings = nullptr) {
  Context context(1, 0);
  if (warnings) context.on_warning = [warnings](const Warning& message) { warnings->push_back(message.text()); };
  Method method;
  method.name = "variance";
  VarianceMethod bound;
  return select_features(noise_source(), method, bound, request, context);
}

TEST(Select, RanksEverythingUnlessTold) {
  const auto result = select({});
  EXPECT_EQ(result.selected, (std::vector<Index>{3, 2, 1, 0, 4}));
  EXPECT_EQ(result.ranking, result.selected);
  EXPECT_EQ(result.constant, 1);
}

TEST(Select, ExcludedColumnsHaveNoScoreAndNoRank) {
  SelectRequest request;
  request.features.count = 2;
  request.exclude = {2, 3};
  const auto result = select(request);
  EXPECT_EQ(result.selected, (std::vector<Index>{1, 0}));
  EXPECT_EQ(result.ranking, (std::vector<Index>{1, 0, 4}));
  EXPECT_TRUE(std::isnan(result.scores[2]) && std::isnan(result.scores[3]));
  EXPECT_FALSE(std::isnan(result.scores[4]));
}

TEST(Select, IncludedFeaturesAreAlwaysThere) {
  SelectRequest request;
  request.features.count = 2;
  request.include = {4};
  EXPECT_EQ(select(request).selected, (std::vector<Index>{3, 4}));
  request.include = {0, 1, 4};
  EXPECT_THROW(select(request), Error);
}

TEST(Select, RefusesWhatCannotBeMet) {
  SelectRequest both;
  both.include = both.exclude = {1};
  EXPECT_THROW(select(both), Error);
  SelectRequest nothing;
  nothing.exclude = {0, 1, 2, 3, 4};
  EXPECT_THROW(select(nothing), Error);
  SelectRequest many;
  many.features.count = 4;
  many.exclude = {0, 1};
  EXPECT_THROW(select(many), Error);
}

TEST(Select, WarnsOfAWideSpreadUnlessScaled) {
  std::vector<std::string> warnings;
  select({}, &warnings);
  EXPECT_EQ(warnings.size(), 1u);
  SelectRequest request;
  request.scale = Scaling::standard;
  warnings.clear();
  const auto result = select(request, &warnings);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("all columns score the same"), std::string::npos);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(result.scores[j], 1.0, 1e-12);
  EXPECT_EQ(result.scores[4], 0.0);
}

TEST(Select, MemoryLimitNamesTheLeastThatWouldDo) {
  Context context(1, 0);
  context.memory_limit = 1000;
  VarianceMethod bound;
  try {
    select_features(noise_source(), {"variance", "", "", "", "", nullptr}, bound, {}, context);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::resources);
    EXPECT_NE(std::string(error.what()).find("--memory "), std::string::npos);
  }
}

TEST(Scale, EachByItsDefinition) {
  Context context(1, 0);
  const Source source = noise_source();
  const auto moments = column_moments(source, context);
  const Matrix before = gather(source, context);
  const Matrix minmax = gather(scaled(source, Scaling::minmax, moments, context), context);
  const Matrix unit = gather(scaled(source, Scaling::unit, moments, context), context);
  const auto ranges = column_moments(scaled(source, Scaling::minmax, moments, context), context);
  for (std::size_t j = 0; j < 4; ++j) EXPECT_NEAR(ranges.max[j] - ranges.min[j], 1.0, 1e-12);
  EXPECT_EQ(minmax(0, 4), 7.0);
  for (Index i = 0; i < kRows; ++i) {
    double norm = 0.0, length = 0.0;
    for (Index j = 0; j < 5; ++j) norm += unit(i, j) * unit(i, j), length += before(i, j) * before(i, j);
    EXPECT_NEAR(norm, 1.0, 1e-12);
    EXPECT_NEAR(unit(i, 2), before(i, 2) / std::sqrt(length), 1e-12);
  }
  EXPECT_EQ(parse_scaling("unit"), Scaling::unit);
  EXPECT_STREQ(name_of(Scaling::minmax), "minmax");
  EXPECT_THROW(parse_scaling("Standard"), Error);
}

TEST(Profile, FindsWhatIsWrongWithATable) {
  const double missing = std::nan("");
  // Columns: 0 varies, 1 constant, 2 equals 0, 3 has a NaN, 4 equals 0 but for one value, 5 constant.
  auto data = std::make_shared<std::vector<double>>(std::vector<double>{1, 5, 1, 1, 1, 0,        //
                                                                        2, 5, 2, missing, 2, 0,  //
                                                                        0, 5, 0, 3, 9, 0});
  const Source source(make_dense_store({data->data(), DType::f64, 3, 6, 6, 1}, data));
  Context context(1, 0);
  const Profile found = profile(source, context);
  EXPECT_EQ(found.not_finite, 1);
  EXPECT_EQ(found.columns_not_finite, (std::vector<Index>{3}));
  EXPECT_EQ(found.constant, (std::vector<Index>{1, 5}));
  EXPECT_EQ(found.duplicates, (std::vector<std::pair<Index, Index>>{{2, 0}}));
  EXPECT_EQ(found.zeros, 5);
  EXPECT_EQ(found.min, 0.0);
  EXPECT_EQ(found.max, 9.0);
  EXPECT_DOUBLE_EQ(found.deviation_least, 1.0);
}

}  // namespace
}  // namespace tamis
