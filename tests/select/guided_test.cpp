#include "tamis/select/guided/guided.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <numeric>

#include "tamis/data/passes/sample.h"
#include "tamis/select/guided/alignment.h"
#include "tamis/select/guided/evidence.h"
#include "tests/support/checks.h"
#include "tests/support/golden.h"
#include "tests/support/guides.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

constexpr double kNear = 1e-9;

// --- Golden cases: the partitions are given ------------------------------------------------------------------------

struct GoldenCase {
  Matrix x;
  Guide guide;
  std::vector<double> share, f;
  std::vector<Index> order;
  double t, deviation;
};

Guide golden_partitions(const std::string& file) {
  const Matrix rows = support::golden(file, "partitions");
  std::vector<std::vector<int>> labels;
  for (Index q = 0; q < rows.rows(); ++q) {
    labels.emplace_back();
    for (Index i = 0; i < rows.cols(); ++i) labels.back().push_back(static_cast<int>(rows(q, i)));
  }
  return support::guide_of(labels, support::golden_vector(file, "weights"));
}

GoldenCase golden_case(const std::string& file) {
  GoldenCase out{support::golden(file, "X"),
                 golden_partitions(file),
                 support::golden_vector(file, "share"),
                 support::golden_vector(file, "f"),
                 {},
                 support::golden_vector(file, "t")[0],
                 support::golden_vector(file, "deviation")[0]};
  for (const double j : support::golden_vector(file, "order")) out.order.push_back(static_cast<Index>(j));
  return out;
}

class GuidedGolden : public testing::TestWithParam<std::string> {};

void expect_near(const std::vector<double>& found, const std::vector<double>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(found[i], wanted[i], kNear) << i;
}

TEST_P(GuidedGolden, ShareChanceOrderAndAlignment) {
  const GoldenCase golden = golden_case("guided_" + GetParam());
  const Chance noise = chance(golden.guide);
  EXPECT_NEAR(noise.mean, golden.t, kNear);
  EXPECT_NEAR(noise.deviation, golden.deviation, kNear);
  Context context(2);
  for (const Source& source :
       {support::dense(golden.x), support::sparse(golden.x), support::left_on_disk(support::dense(golden.x))}) {
    const ColumnMoments moments = column_moments(source, context);
    std::vector<Index> kept;
    for (Index j = 0; j < source.cols(); ++j) {
      if (moments.varies(j)) kept.push_back(j);
    }
    ASSERT_EQ(kept.size(), golden.order.size());
    const Source varying = source.with_columns(kept);
    const ColumnMoments own = column_moments(varying, context);
    const Centered z(varying, own);
    const std::vector<double> guided = guided_scatter(golden.guide, z, context);
    ColumnMerits merits{own.scatter, {}};
    std::vector<char> enter;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      const double share = guided[i] / own.scatter[i];
      EXPECT_NEAR(share, golden.share[static_cast<std::size_t>(kept[i])], kNear);
      merits.excess.push_back(guided[i] - noise.mean * own.scatter[i]);
      enter.push_back(share > noise.mean + 4 * noise.deviation);
    }
    const AlignedPath path = aligned_path(z, merits, groups_or_columns({}, z.cols()), {}, enter, context);
    expect_near(path.alignment, golden.f);
    for (std::size_t i = 0; i < path.groups.size(); ++i) {
      EXPECT_EQ(kept[static_cast<std::size_t>(path.groups[i])], golden.order[i]) << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GuidedGolden, testing::Values("blobs", "sparse", "wide"));

// --- Evidence ------------------------------------------------------------------------------------------------------

// Imhof (1961): P(sum m_i z_i^2 > 0) = 1/2 + 1/pi int_0^inf sin(1/2 sum atan(m_i u)) / (u prod (1 + m_i^2 u^2)^(1/4))
// du.
double imhof(const std::vector<double>& values, Index count, double s) {
  std::vector<double> m;
  for (const double v : values) m.push_back(v - s);
  m.resize(static_cast<std::size_t>(count), -s);
  double widest = 0;
  for (const double one : m) widest = std::max(widest, std::abs(one));
  const auto integrand = [&](double u) {
    double angle = 0, size = 0;
    for (const double one : m) {
      angle += std::atan(one * u) / 2;
      size += std::log1p(one * one * u * u) / 4;
    }
    return std::sin(angle) / u * std::exp(-size);
  };
  // u = e^y: the integrand times u falls off on both sides.
  const double low = std::log(1e-12 / widest), high = std::log(1e6 / widest), step = (high - low) / 40000;
  double sum = 0;
  for (int i = 0; i <= 40000; ++i) {
    const double u = std::exp(low + i * step);
    sum += (i == 0 || i == 40000 ? 0.5 : 1.0) * integrand(u) * u;
  }
  return 0.5 + sum * step / std::numbers::pi;
}

TEST(Evidence, TailsAreThoseOfExactIntegration) {
  for (const Index count : {Index{29}, Index{99}, Index{199}}) {
    std::vector<double> values;
    for (int k = 0; k < 12; ++k) values.push_back(0.95 * std::pow(0.8, k));
    for (const double s : {0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6}) {
      const double exact = imhof(values, count, s);
      if (exact < 1e-8) continue;
      EXPECT_NEAR(quadratic_ratio_tail(values, count, s) / exact, 1, 1e-3) << "n - 1 = " << count << ", s = " << s;
    }
  }
}

TEST(Evidence, TailsFallFromOneToZero) {
  const std::vector<double> values = {0.9, 0.5, 0.5, 0.1};
  // (z1^2 + z2^2) / (z1^2 + ... + z4^2) is uniform: half of four squares, a Beta(1, 1).
  for (const double s : {1e-6, 0.1, 0.5, 0.9, 0.999999}) EXPECT_NEAR(quadratic_ratio_tail({1, 1}, 4, s), 1 - s, 1e-6);
  EXPECT_EQ(quadratic_ratio_tail(values, 20, 0.95), 0);
  EXPECT_EQ(quadratic_ratio_tail(values, 20, 0.0), 1);
  EXPECT_EQ(quadratic_ratio_tail({}, 20, 0.1), 0);
  double before = 1;
  for (double s = 0.001; s < 0.9; s += 0.001) {
    const double tail = quadratic_ratio_tail(values, 20, s);
    EXPECT_LE(tail, before + 1e-12) << s;
    before = tail;
  }
}

TEST(Evidence, DiscoveriesAreThoseOfBenjaminiAndHochberg) {
  // The largest i with p_(i) <= .1 i / 5 is 3, though p_(2) = .05 is above .04.
  EXPECT_EQ(discoveries({0.05, 0.9, 0.01, 0.06, 0.5}, 0.1), (std::vector<char>{1, 0, 1, 1, 0}));
  EXPECT_EQ(discoveries({0.5, 0.9}, 0.01), (std::vector<char>{0, 0}));
}

std::vector<double> evidence_of(const Matrix& x, Context& context) {
  const Source source = support::dense(x);
  const std::vector<char> half = column_halves(source, context);
  const std::vector<GuideGraphs> graphs = guide_graphs(source, half, {}, context);
  return column_evidence(source, half, std::span(graphs).subspan(1), {}, context);
}

TEST(Evidence, IsUniformOnNoise) {
  std::vector<double> all;
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    Context context(2, seed);
    const Matrix x = support::random_matrix(120, 150, seed);
    for (const double p : evidence_of(x, context)) all.push_back(p);
  }
  std::sort(all.begin(), all.end());
  double distance = 0;  // Kolmogorov-Smirnov
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double low = static_cast<double>(i) / static_cast<double>(all.size());
    distance = std::max({distance, all[i] - low, low + 1.0 / static_cast<double>(all.size()) - all[i]});
  }
  EXPECT_LT(distance * std::sqrt(static_cast<double>(all.size())), 1.63);  // 1 %
}

TEST(Evidence, CopiesDoNotTestifyForEachOther) {
  Matrix x = support::random_matrix(100, 60, 3);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 30; j < 60; ++j) x(i, j) = x(i, j - 30);
  }
  Context context(2);
  for (const double p : evidence_of(x, context)) EXPECT_GT(p, 1e-4);
}

// --- The whole procedure -------------------------------------------------------------------------------------------

// Groups that differ by 2 N(0, 1) in the first columns.
Matrix planted(Index rows, Index cols, Index groups, Index informative, std::uint64_t seed) {
  return support::mixture(rows, cols, groups, informative, 2, seed);
}

Selection fit(const Source& source, const GuidedOptions& options = {}, int threads = 2, std::uint64_t seed = 0) {
  Context context(threads, seed);
  return guided(source, options, context);
}

struct Found {
  Index planted = 0, others = 0;
};

Found chosen(const Selection& found, Index informative) {
  Found out;
  for (Index i = 0; i < found.guidance->suggested; ++i) {
    (found.ranking[static_cast<std::size_t>(i)] < informative ? out.planted : out.others) += 1;
  }
  return out;
}

TEST(Guided, FindsPlantedColumns) {
  for (const Index groups : {Index{3}, Index{4}}) {
    const Found found = chosen(fit(support::dense(planted(200, 1000, groups, 50, 1))), 50);
    EXPECT_GE(found.planted, 44) << groups;
    EXPECT_LE(found.others, 5) << groups;  // of 950: a few get in by chance
  }
  const Found wide = chosen(fit(support::dense(planted(100, 2000, 3, 50, 2))), 50);
  EXPECT_GE(wide.planted, 33);
  EXPECT_LE(wide.others, 5);
}

// In narrow tables, too, which are kept whole in either case.
TEST(Guided, SaysThatThereIsNoStructure) {
  for (const Index d : {200, 20}) {
    Index quiet = 0;
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Selection found = fit(support::dense(support::random_matrix(200, d, 40 + seed)), {}, 2, seed);
      quiet += found.guidance->outcome == Outcome::no_structure;
      if (found.guidance->outcome == Outcome::no_structure) {
        EXPECT_EQ(found.guidance->suggested, d);
      }
    }
    EXPECT_GE(quiet, 5) << d;
  }
}

// H Q H with Q = U (U'U)^-1 U' and H = I - 11'/n.
Matrix centered_projector(const std::vector<int>& labels) {
  const auto n = static_cast<Index>(labels.size());
  Matrix out(n, n, -1.0 / static_cast<double>(n));
  for (Index i = 0; i < n; ++i) {
    const auto size = static_cast<double>(std::count(labels.begin(), labels.end(), labels[i]));
    for (Index j = 0; j < n; ++j) out(i, j) += labels[i] == labels[j] ? 1 / size : 0;
  }
  return out;
}

// Largest <Q_q, P> / ||Q_q||, all centered.
TEST(Guided, TheBestPartitionAgreesMostWithTheGuide) {
  for (std::uint64_t round = 0; round < 20; ++round) {
    const Random random = support::seeded(round, 5);
    std::vector<std::vector<int>> all;
    for (std::uint64_t q = 0; q < 5; ++q) {
      all.emplace_back();
      for (std::uint64_t i = 0; i < 30; ++i) {
        const auto c = static_cast<Index>(2 + q);
        all.back().push_back(static_cast<int>(i < 2 + q ? i : random.below(100 * q + i, c)));
      }
    }
    const std::vector<double> weights = {0.3, 0.25, 0.2, 0.15, 0.1};
    Matrix p(30, 30);
    for (std::size_t q = 0; q < all.size(); ++q) {
      const Matrix own = centered_projector(all[q]);
      for (Index k = 0; k < p.size(); ++k) p.data()[k] += weights[q] * own.data()[k];
    }
    std::vector<double> agreement;
    for (const auto& labels : all) {
      const Matrix own = centered_projector(labels);
      agreement.push_back(std::inner_product(own.data(), own.data() + own.size(), p.data(), 0.0) /
                          std::sqrt(std::inner_product(own.data(), own.data() + own.size(), own.data(), 0.0)));
    }
    const auto wanted = std::max_element(agreement.begin(), agreement.end()) - agreement.begin();
    EXPECT_EQ(best_partition(support::guide_of(all, weights)), wanted) << round;
  }
}

TEST(Guided, KeepsNarrowTablesWhole) {
  Matrix x = planted(100, 12, 3, 5, 1);
  for (Index i = 0; i < x.rows(); ++i) x(i, 7) = 0.1;
  const Selection found = fit(support::dense(x));
  EXPECT_EQ(found.guidance->outcome, Outcome::narrow);
  EXPECT_EQ(found.guidance->suggested, 11);
  EXPECT_EQ(found.ranking.back(), 7);
  EXPECT_EQ(found.scores[7], 0);
  EXPECT_EQ(found.guidance->share[7], 0);
  EXPECT_EQ(found.guidance->evidence[7], 1);
}

// Columns a, its copy, b and c with x'x = 8 and share 1 each, b and c orthogonal to a: f rises with b and with c, the
// copy adds nothing to it.
TEST(Guided, ACopyComesLate) {
  const double columns[4][8] = {{1, 1, 1, 1, -1, -1, -1, -1},
                                {1, 1, 1, 1, -1, -1, -1, -1},
                                {1, 1, -1, -1, 1, 1, -1, -1},
                                {1, 1, -1, -1, -1, -1, 1, 1}};
  Matrix x(8, 4);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < x.cols(); ++j) x(i, j) = columns[j][i];
  }
  Context context(2);
  const Source source = support::dense(x);
  const Centered z(source, column_moments(source, context));
  const double excess = 8 * (1 - 3.0 / 7);  // four groups of two rows: t = 3 / (n - 1)
  const ColumnMerits merits{std::vector<double>(4, 8.0), std::vector<double>(4, excess)};
  const AlignedPath path = aligned_path(z, merits, groups_or_columns({}, 4), {}, std::vector<char>(4, 1), context);
  EXPECT_EQ(path.groups, (std::vector<Index>{0, 2, 3, 1}));
  expect_near(path.alignment,
              {excess / 8, excess / 8 * std::sqrt(2), excess / 8 * std::sqrt(3), excess / 8 * 4 / std::sqrt(6)});
}

// More columns than products are computed for at once: against f of every column in turn, from its definition.
TEST(Guided, TheLongPathIsGreedy) {
  constexpr Index kColumns = kLongestPath + 100, kSteps = 60;
  const Matrix x = support::random_matrix(12, kColumns, 4);
  Context context(2);
  const Source source = support::dense(x);
  const ColumnMoments moments = column_moments(source, context);
  const Centered z(source, moments);
  ColumnMerits merits{moments.scatter, {}};
  for (Index j = 0; j < kColumns; ++j)
    merits.excess.push_back(moments.scatter[j] * (0.1 + 0.001 * static_cast<double>(j * 37 % 101)));
  const AlignedPath path =
      aligned_path(z, merits, groups_or_columns({}, kColumns), {}, std::vector<char>(kColumns, 1), context);
  ASSERT_EQ(path.groups.size(), kLongestPath);

  const auto squared_product = [&](Index a, Index b) {
    double sum = 0;
    for (Index i = 0; i < x.rows(); ++i) sum += (x(i, a) - moments.mean[a]) * (x(i, b) - moments.mean[b]);
    return sum * sum;
  };
  double excess = 0, norm = 0;
  std::vector<double> beside(kColumns);
  for (Index step = 0; step < kSteps; ++step) {
    Index best = -1;
    double most = 0;
    for (Index j = 0; j < kColumns; ++j) {
      const auto end = path.groups.begin() + step;
      if (std::find(path.groups.begin(), end, j) != end) continue;
      const double f =
          (excess + merits.excess[j]) / std::sqrt(norm + 2 * beside[j] + merits.scatter[j] * merits.scatter[j]);
      if (best < 0 || f > most) best = j, most = f;
    }
    EXPECT_EQ(path.groups[step], best) << step;
    EXPECT_NEAR(path.alignment[step], most, kNear * most) << step;
    excess += merits.excess[best];
    norm += 2 * beside[best] + merits.scatter[best] * merits.scatter[best];
    for (Index j = 0; j < kColumns; ++j) beside[j] += squared_product(best, j);
  }
}

TEST(Guided, CopiesShareAlikeAndTheLowerIndexComesFirst) {
  Matrix x = planted(150, 61, 3, 20, 5);
  const std::vector<std::vector<Index>> copies = {{0, 9, 60}, {30, 58}};  // informative, noise
  support::copy_columns(x, copies);
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    const Selection found = fit(source);
    for (const auto& group : copies) {
      for (std::size_t k = 1; k < group.size(); ++k) {
        EXPECT_NEAR(found.guidance->share[group[k]], found.guidance->share[group.front()], 1e-12);
        EXPECT_GT(found.scores[group[k - 1]], found.scores[group[k]]);
      }
    }
  }
}

TEST(Guided, AForcedCopyComesBeforeAnother) {
  Matrix x = planted(150, 60, 3, 20, 5);
  support::copy_columns(x, {{0, 9}});
  GuidedOptions options;
  options.forced = {9};
  EXPECT_EQ(fit(support::dense(x), options).ranking[0], 9);
}

TEST(Guided, ForcedColumnsComeFirst) {
  GuidedOptions options;
  options.forced = {55, 3};
  const Selection found = fit(support::dense(planted(120, 60, 3, 20, 5)), options);
  EXPECT_EQ(found.ranking[0], 55);
  EXPECT_EQ(found.ranking[1], 3);
}

TEST(Guided, SamplesAreDrawnAlikeFromMemoryDiskAndSparse) {
  const Matrix x = support::thinned(planted(3000, 60, 3, 20, 6), 0.5, 1);
  GuidedOptions options;
  options.sample = 400;
  const Selection memory = fit(support::dense(x), options),
                  disk = fit(support::left_on_disk(support::dense(x)), options);
  EXPECT_EQ(memory.ranking, disk.ranking);
  EXPECT_EQ(memory.guidance->evidence, disk.guidance->evidence);
  EXPECT_EQ(memory.guidance->rows, 400);
  EXPECT_TRUE(memory.clusters.empty());
  EXPECT_EQ(disk.report.passes, 1);
  Context context(2);
  const std::vector<Index> rows = draw_rows(3000, 400, 0);
  const Matrix dense = gather(take_rows(support::dense(x), rows, context), context);
  const Matrix sparse = gather(take_rows(support::sparse(x), rows, context), context);
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j) {
      ASSERT_EQ(dense(i, j), x(rows[static_cast<std::size_t>(i)], j));
      ASSERT_EQ(sparse(i, j), dense(i, j));
    }
  }
}

TEST(Guided, DrawsTheRowsOfTheSmallestNumbers) {
  const std::vector<Index> some = draw_rows(5000, 37, 3), more = draw_rows(5000, 900, 3);
  EXPECT_EQ(some.size(), 37u);
  EXPECT_TRUE(std::is_sorted(more.begin(), more.end()));
  EXPECT_TRUE(std::includes(more.begin(), more.end(), some.begin(), some.end()));
  EXPECT_NE(some, draw_rows(5000, 37, 4));
  EXPECT_EQ(draw_rows(3, 7, 0), (std::vector<Index>{0, 1, 2}));
  double mean = 0;
  for (const Index row : more) mean += static_cast<double>(row) / 900;
  EXPECT_NEAR(mean, 2500, 4 * 5000 / std::sqrt(12.0 * 900));
}

TEST(Guided, SameBitsAtAnyNumberOfThreads) {
  const Source source = support::dense(planted(700, 80, 4, 20, 7));
  const Selection one = fit(source, {}, 1), four = fit(source, {}, 4);
  EXPECT_EQ(one.ranking, four.ranking);
  EXPECT_EQ(one.guidance->evidence, four.guidance->evidence);
  EXPECT_EQ(one.guidance->alignment, four.guidance->alignment);
  EXPECT_EQ(one.clusters, four.clusters);
}

TEST(Guided, AwkwardTables) {
  const auto survives = [](const Matrix& x) {
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      const Selection found = fit(source);
      EXPECT_EQ(found.ranking.size(), static_cast<std::size_t>(x.cols()));
      EXPECT_TRUE(support::all_finite(found.scores));
      EXPECT_TRUE(support::all_finite(found.guidance->share));
      EXPECT_TRUE(support::all_finite(found.guidance->evidence));
      EXPECT_TRUE(support::all_finite(found.guidance->alignment));
    }
  };
  survives(support::random_matrix(2, 5, 1));
  survives(support::random_matrix(3, 70, 1));
  survives(support::random_matrix(50, 1, 1));
  Matrix equal(40, 80), apart = planted(90, 70, 3, 70, 1), huge = apart, tiny = apart, zeros = apart, copies = apart;
  for (Index i = 0; i < equal.rows(); ++i) {
    for (Index j = 0; j < equal.cols(); ++j) equal(i, j) = static_cast<double>(i % 7);
  }
  survives(equal);
  for (Index i = 0; i < apart.rows(); ++i) {
    for (Index j = 0; j < apart.cols(); ++j) {
      apart(i, j) += 1e6 * static_cast<double>(i % 9);
      huge(i, j) *= 1e150;
      tiny(i, j) *= 1e-160;
      if (i % 3 == 0) zeros(i, j) = 0;
      copies(i, j) = copies(i % 5, j);
    }
  }
  survives(apart);
  survives(huge);
  survives(tiny);
  survives(zeros);
  survives(copies);
}

}  // namespace
}  // namespace tamis
