// What a plan says is what a run does.
#include "tamis/select/plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tamis/base/random.h"
#include "tamis/select/methods/mcfs.h"
#include "tamis/select/registry.h"
#include "tamis/select/rufs/rufs.h"
#include "tamis/select/ufcm/plan.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

// Draws one of a few values again and again.
class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed, 0) {}
  Index upto(Index most) { return static_cast<Index>(random_.bits(next_++) % static_cast<std::uint64_t>(most)); }
  std::string one_of(const std::vector<std::string>& words) {
    return words[static_cast<std::size_t>(upto(static_cast<Index>(words.size())))];
  }

 private:
  Random random_;
  std::uint64_t next_ = 0;
};

// Settings that decide paths, and others that keep a run short; a method takes those that it has.
std::vector<std::pair<std::string, std::string>> random_settings(Draw& draw, Index n, Index d) {
  const auto number = [&](Index most) { return std::to_string(1 + draw.upto(most)); };
  std::vector<std::pair<std::string, std::string>> out = {
      {"clusters", number(std::min<Index>(n, 6))},
      {"alpha", draw.one_of({"0.1", "1", "1", "5"})},
      {"p", draw.one_of({"0.5", "1"})},
      {"order", draw.one_of({"norm", "qr"})},
      {"weights", draw.one_of({"heat", "binary", "cosine"})},
      {"function", number(3)},
      {"evidence", draw.one_of({"yes", "no"})},
      {"sample", std::to_string(2 + draw.upto(2 * n))},
      {"iterations", "2"},
      {"restarts", "1"},
      {"runs", "1"},
  };
  if (draw.upto(2) == 0) out.emplace_back("dims", number(std::min(d, n - 1)));
  if (draw.upto(2) == 0) out.emplace_back("active", number(d));
  if (draw.upto(3) == 0) out.emplace_back("bandwidth", "2.5");
  return out;
}

// fspca refuses more directions than columns.
Index fewest_columns(const std::vector<std::pair<std::string, std::string>>& settings) {
  for (const auto& [name, value] : settings) {
    if (name == "dims") return std::stol(value);
  }
  return 1;
}

std::unique_ptr<BoundMethod> bound_to(const Method& method,
                                      const std::vector<std::pair<std::string, std::string>>& settings) {
  auto bound = method.bind();
  const Options options = bound->options();
  for (const auto& [name, value] : settings) {
    if (const Option* option = find_option(options, name)) set_from_text(*option, method.name, value);
  }
  return bound;
}

Shape shape(Index rows, Index cols, bool sparse = false) {
  return {rows, cols, static_cast<double>(rows) * static_cast<double>(cols) * (sparse ? 0.01 : 1), sparse, 1};
}

TEST(Plan, ThePathIsThatOfTheRunForRandomShapesAndOptions) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kShapes = 60;  // a sanitizer takes ten times as long
#else
  constexpr int kShapes = 300;
#endif
  Draw draw(1);
  for (int round = 0; round < kShapes; ++round) {
    const Index n = 10 + draw.upto(40), d = 2 + draw.upto(round % 10 == 0 ? 300 : 60);
    const Matrix x = support::mixture(n, d, 3, std::max<Index>(1, d / 2), 4, static_cast<std::uint64_t>(round));
    const Source source = draw.upto(3) == 0 ? support::sparse(support::thinned(x, 0.7, 3)) : support::dense(x);
    const auto settings = random_settings(draw, n, d);
    for (const Method& method : methods()) {
      const auto bound = bound_to(method, settings);
      if (draw.upto(2) == 0) bound->aim_at(std::max(fewest_columns(settings), 1 + draw.upto(d)));
      Context context(1 + static_cast<int>(draw.upto(3)));
      const Plan plan = bound->plan(shape_of(source), context.threads());
      EXPECT_EQ(plan.path, bound->run(source, context).report.path) << method.name << " on " << n << " x " << d;
      EXPECT_EQ(plan.path, bound->plan(shape_of(source), 7).path) << method.name << ": threads decide";
      EXPECT_GT(plan.peak_numbers(), 0);
      EXPECT_GT(plan.seconds, 0);
      EXPECT_GE(plan.passes, 1);
    }
  }
}

TEST(Plan, TheBandwidthOfManyRowsComesFromASample) {
  const Source source = support::dense(support::mixture(4100, 2, 3, 2, 4, 1));
  Context context(2);
  for (const char* name : {"lapscore", "ndfs"}) {
    const auto bound = bound_to(find_method(name), {{"iterations", "1"}, {"restarts", "1"}});
    const std::string path = bound->plan(shape_of(source), 2).path;
    EXPECT_NE(path.find("bandwidth from a sample of pairs"), std::string::npos) << path;
    EXPECT_EQ(path, bound->run(source, context).report.path);
  }
}

// --- Decisions about tables that are too large to run here -----------------------------------------------------------

std::string ufcm_path(const Shape& x, Index clusters = 8, double alpha = 1) {
  UfcmOptions options;
  options.clusters = clusters;
  options.alpha = alpha;
  return UfcmPlan(x, options, 2).path;
}

TEST(UfcmPlan, ASampleComesFirstOnlyWhereItIsLargeEnough) {
  EXPECT_EQ(ufcm_path(shape(262144, 100)), "centroids, from a sample of 16384 rows");
  EXPECT_EQ(ufcm_path(shape(262143, 100)), "centroids");
  EXPECT_EQ(ufcm_path(shape(262144, 100, true)), "centroids");
  EXPECT_EQ(ufcm_path(shape(262144, 4096)), "centroids, from a sample of 2048 rows");
  EXPECT_EQ(ufcm_path(shape(262144, 4097)), "centroids");
  EXPECT_EQ(ufcm_path(shape(262144, 100), 327), "centroids, from a sample of 16384 rows");
  EXPECT_EQ(ufcm_path(shape(262144, 100), 328), "centroids");
}

TEST(UfcmPlan, ItCostsWhatItDoes) {
  const UfcmPlan sampled(shape(262144, 4096), {}, 2), whole(shape(262144, 4097), {}, 2);
  const auto has = [](const Plan& plan, const std::string& name) {
    return std::ranges::any_of(plan.phases, [&](const Phase& phase) { return phase.name == name; });
  };
  EXPECT_TRUE(has(sampled, "sample"));
  EXPECT_FALSE(has(whole, "sample"));
  EXPECT_LT(sampled.passes, whole.passes);  // few iterations are left after a sample
}

TEST(UfcmPlan, TheScatterIsFormedWhereThatIsLessWork) {
  EXPECT_EQ(ufcm_path(shape(10000, 100), 8, 0.1), "gram");
  EXPECT_EQ(ufcm_path(shape(10000, 100, true), 8, 0.1), "products");
  EXPECT_EQ(ufcm_path(shape(10000, 4096), 200, 0.1), "gram");
  EXPECT_EQ(ufcm_path(shape(10000, 4097), 200, 0.1), "products");
  // n d^2 + 2 d^2 m < 4 n d m, m = 40 d': n = 280 and d' = 7 give d < 4 * 280 / 3.
  EXPECT_EQ(ufcm_path(shape(280, 373), 8, 0.1), "gram");
  EXPECT_EQ(ufcm_path(shape(280, 374), 8, 0.1), "products");
}

TEST(McfsPlan, CountsTheActiveColumnsThatAreAskedFor) {
  const Shape x = shape(3000, 20000);
  McfsOptions few, many, wanted;
  few.active = 20, many.active = 1000, wanted.features = 1000;
  EXPECT_LT(McfsPlan(x, few, 2).peak_numbers(), McfsPlan(x, {}, 2).peak_numbers());
  EXPECT_GT(McfsPlan(x, many, 2).peak_numbers(), McfsPlan(x, {}, 2).peak_numbers());
  EXPECT_GT(McfsPlan(x, many, 2).seconds, McfsPlan(x, {}, 2).seconds);
  EXPECT_EQ(McfsPlan(x, many, 2).peak_numbers(), McfsPlan(x, wanted, 2).peak_numbers());
  EXPECT_EQ(McfsPlan(shape(50, 20), many, 2).active, 20);
  EXPECT_EQ(McfsPlan(shape(15, 20), many, 2).active, 14);
}

TEST(RufsPlan, TakesNoSquareMatrixThatIsTooLarge) {
  const auto path = [](const Shape& x) { return RufsPlan(x, {}, 2).path; };
  EXPECT_TRUE(path(shape(9000, 4096)).ends_with("W by gram of columns"));
  EXPECT_TRUE(path(shape(4096, 9000)).ends_with("W by gram of rows"));
  EXPECT_TRUE(path(shape(9000, 4097)).ends_with("W by products"));
  EXPECT_TRUE(path(shape(9000, 1024, true)).ends_with("W by gram of columns"));
  EXPECT_TRUE(path(shape(9000, 1025, true)).ends_with("W by products"));
  EXPECT_LT(RufsPlan(shape(5000, 4097), {}, 2).peak_numbers(), RufsPlan(shape(5000, 4096), {}, 2).peak_numbers());
}

}  // namespace
}  // namespace tamis
