#include "tamis/select/ufcm/ufcm.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "tamis/linalg/dense.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"
#include "tests/support/ufcm_twin.h"
#include "tests/support/weights.h"

namespace tamis {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Selection fit(const Source& source, const UfcmOptions& options, int threads = 2) {
  Context context(threads);
  return ufcm(source, options, context);
}

UfcmOptions with_clusters(Index clusters) {
  UfcmOptions options;
  options.clusters = clusters;
  return options;
}

double resolved(const Selection& found, const std::string& name) {
  for (const Fact& fact : found.report.resolved) {
    if (fact.first == name) return fact.second;
  }
  ADD_FAILURE() << name << " is not in the report";
  return kNan;
}

const std::vector<double>& term(const Selection& found, const std::string& name) {
  for (const Trace& trace : found.report.terms) {
    if (trace.first == name) return trace.second;
  }
  throw std::runtime_error("no term " + name);
}

// Everything a selection says about itself against the definition of the problem.
void expect_definition(const Matrix& x, const UfcmOptions& options, const Selection& found, const std::string& what) {
  const double beta = resolved(found, "beta"), alpha = options.alpha;
  ASSERT_EQ(static_cast<Index>(found.scores.size()), x.cols()) << what;
  ASSERT_EQ(static_cast<Index>(found.clusters.size()), x.rows()) << what;
  ASSERT_EQ(found.components.rows(), x.cols()) << what;
  ASSERT_TRUE(support::all_finite(found.scores)) << what;
  ASSERT_TRUE(support::all_finite(found.report.objective)) << what;
  for (const int k : found.clusters) ASSERT_TRUE(k >= 0 && k < options.clusters) << what;

  const Matrix wtw = product_transposed_left(found.components, found.components);
  for (Index i = 0; i < wtw.rows(); ++i) {
    for (Index j = 0; j < wtw.cols(); ++j)
      ASSERT_NEAR(wtw(i, j), i == j ? 1.0 : 0.0, 1e-10) << what << ": W'W is not I";
  }
  for (Index i = 0; i < x.cols(); ++i) {
    double norm = 0;
    for (Index k = 0; k < found.components.cols(); ++k) norm += found.components(i, k) * found.components(i, k);
    ASSERT_NEAR(found.scores[static_cast<std::size_t>(i)], std::sqrt(norm), 1e-14) << what;
  }

  const support::UfcmTerms terms = support::ufcm_terms(x, found.components, found.clusters, options.p);
  const double magnitude = terms.magnitude(alpha, beta);
  ASSERT_NEAR(found.report.objective.back(), terms.objective(alpha, beta), 1e-9 * magnitude) << what;
  ASSERT_NEAR(term(found, "scatter").back(), terms.scatter, 1e-9 * magnitude) << what;
  ASSERT_NEAR(alpha * term(found, "within").back(), alpha * terms.within, 1e-9 * magnitude) << what;
  ASSERT_NEAR(beta * term(found, "sparsity").back(), beta * terms.sparsity, 1e-9 * magnitude) << what;

  const auto& objective = found.report.objective;
  ASSERT_EQ(static_cast<Index>(objective.size()), found.report.iterations) << what;
  for (std::size_t t = 0; t < objective.size(); ++t) {
    const double scatter = term(found, "scatter")[t], within = term(found, "within")[t],
                 sparsity = term(found, "sparsity")[t];
    const double size = std::abs(scatter) + alpha * std::abs(within) + beta * sparsity;
    ASSERT_NEAR(objective[t], scatter - alpha * within - beta * sparsity, 1e-9 * size) << what << " iteration " << t;
    ASSERT_GE(objective[t], objective[t > 0 ? t - 1 : 0] - 1e-9 * size)
        << what << ": the objective fell at iteration " << t;
  }
}

// --- (a) The objective -------------------------------------------------------------------------------------------

class UfcmObjective : public testing::TestWithParam<std::tuple<bool, std::pair<Index, Index>>> {};

TEST_P(UfcmObjective, NeverFallsAndMeetsItsDefinition) {
  const bool sparse = std::get<0>(GetParam());
  const auto [n, d] = std::get<1>(GetParam());
  std::uint64_t seed = 0;
  for (const double alpha : {0.0, 0.1, 1.0, 10.0, 1000.0}) {
    for (const double beta : {0.0, 0.1, 10.0, 1000.0}) {
      for (const double p : {0.3, 0.5, 1.0, 1.5, 1.9}) {
        ++seed;
        Matrix x = seed % 3 == 0 ? support::random_matrix(n, d, seed) : support::mixture(n, d, 4, d / 2, 3, seed);
        if (sparse) x = support::thinned(x, 0.4, seed);
        UfcmOptions options = with_clusters(static_cast<Index>(2 + seed % 4));
        options.alpha = alpha;
        options.beta = beta;
        options.p = p;
        options.restarts = 3;
        options.iterations = 20;
        if (seed % 5 == 0) options.tolerance = 0;
        const std::string what =
            concat("seed ", seed, " alpha ", alpha, " beta ", beta, " p ", p, " clusters ", options.clusters);
        try {
          const Selection found = fit(sparse ? support::sparse(x, 7) : support::dense(x), options, 1);
          expect_definition(x, options, found, what);
        } catch (const Error& error) {
          ADD_FAILURE() << what << ": " << error.what();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, UfcmObjective,
                         testing::Combine(testing::Bool(), testing::Values(std::pair<Index, Index>{60, 12},
                                                                           std::pair<Index, Index>{16, 40})));

// Past 32768 rows labels are found in float; the objective stays that of the definition.
TEST(Ufcm, ManyRows) {
  const Matrix x = support::mixture(33000, 5, 4, 3, 4, 1);
  for (const double alpha : {1.0, 0.5}) {
    UfcmOptions options = with_clusters(4);
    options.alpha = alpha;
    const Selection found = fit(support::dense(x), options);
    const double beta = resolved(found, "beta");
    const support::UfcmTerms terms = support::ufcm_terms(x, found.components, found.clusters, 1);
    EXPECT_NEAR(found.report.objective.back(), terms.objective(alpha, beta), 1e-9 * terms.magnitude(alpha, beta));
    EXPECT_NEAR(term(found, "scatter").back(), terms.scatter, 1e-5 * terms.scatter);
    EXPECT_NEAR(term(found, "within").back(), terms.within, 1e-5 * terms.scatter);
    for (std::size_t t = 1; t < found.report.objective.size(); ++t) {
      EXPECT_GE(found.report.objective[t], found.report.objective[t - 1] - 1e-9 * terms.magnitude(alpha, beta));
    }
  }
}

// --- (b) Given classes -------------------------------------------------------------------------------------------

std::vector<int> classes_of(Index n, int classes) {
  std::vector<int> out;
  for (Index i = 0; i < n; ++i) out.push_back(static_cast<int>(i % classes));
  return out;
}

Matrix labelled(Index n, Index d, const std::vector<int>& classes, double spread, std::uint64_t seed) {
  Matrix x = support::random_matrix(n, d, seed);
  const Matrix centers = support::random_matrix(10, d, seed + 1);
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < d / 2; ++j) x(i, j) += spread * centers(classes[static_cast<std::size_t>(i)], j);
  }
  return x;
}

TEST(UfcmSupervised, ReachesThePlainDenseAlgorithm) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{50, 10}, {18, 30}}) {
    const std::vector<int> classes = classes_of(n, 4);
    const Matrix x = labelled(n, d, classes, 2, 2);
    for (const double alpha : {0.0, 0.5, 1.0, 3.0}) {
      for (const double beta : {0.0, 1.0, 20.0}) {
        for (const double p : {0.5, 1.0, 1.5}) {
          UfcmOptions options = with_clusters(4);
          options.labels = classes;
          options.alpha = alpha;
          options.beta = beta;
          options.p = p;
          options.dims = 3;
          options.iterations = 1000;
          options.tolerance = 1e-12;
          const Selection found = fit(support::dense(x), options);
          EXPECT_EQ(found.clusters, classes);
          const double reference = support::supervised_objective(x, classes, 3, alpha, beta, p, 300);
          const double size = support::ufcm_terms(x, found.components, classes, p).magnitude(alpha, beta);
          EXPECT_GE(found.report.objective.back(), reference - 1e-5 * size)
              << n << " x " << d << " alpha " << alpha << " beta " << beta << " p " << p;
          expect_definition(x, options, found, concat("supervised alpha ", alpha, " beta ", beta, " p ", p));
        }
      }
    }
  }
}

// At a fixed point W holds leading eigenvectors of M(W): small residuals, and no direction outside is better.
TEST(UfcmSupervised, ConvergesToAFixedPoint) {
  const std::vector<int> classes = classes_of(60, 3);
  const Matrix x = labelled(60, 8, classes, 2, 3);
  UfcmOptions options = with_clusters(3);
  options.labels = classes;
  options.alpha = 0.7;
  options.beta = 5;
  options.iterations = 3000;
  options.tolerance = 1e-15;
  const Selection found = fit(support::dense(x), options);
  const Matrix& w = found.components;
  const auto z = support::centered(x);
  Matrix m(8, 8);
  support::LongMatrix sums(3, 8);
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 8; ++j) sums(i % 3, j) += z(i, j) / std::sqrt(20.0L);
  }
  const auto s = support::times(support::transposed(z), z), b = support::times(support::transposed(sums), sums);
  for (Index i = 0; i < 8; ++i) {
    for (Index j = 0; j < 8; ++j) m(i, j) = static_cast<double>(0.3L * s(i, j) + 0.7L * b(i, j));
    double norm = 0;
    for (Index k = 0; k < w.cols(); ++k) norm += w(i, k) * w(i, k);
    m(i, i) -= 5 * 0.5 / std::sqrt(norm + support::kEps);
  }
  // The gradient on the manifold, (I - WW') M W, vanishes where rows of W are not numerically 0.
  const Matrix mw = product(m, w), theta = product_transposed_left(w, mw);
  Matrix r = mw;
  add_product(-1.0, w, theta, r);
  EXPECT_LT(support::largest(r), 1e-3 * support::largest(mw));
  const EigenPairs all = symmetric_eigen(m);
  double reached = 0, best = 0;
  for (Index k = 0; k < w.cols(); ++k) reached += theta(k, k), best += all.values[static_cast<std::size_t>(k)];
  EXPECT_NEAR(reached, best, 1e-6 * std::abs(best));
}

// --- (c) Partly given classes ------------------------------------------------------------------------------------

TEST(UfcmSupervised, PartlyGivenLabelsStay) {
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Matrix x = support::mixture(60, 8, 3, 4, 3, seed);
    UfcmOptions options = with_clusters(4);
    options.labels.assign(60, -1);
    for (std::size_t i = 0; i < 60; i += 4) options.labels[i] = static_cast<int>(i / 4 % 3);
    for (const Source& source : {support::dense(x), support::sparse(x)}) {
      const Selection found = fit(source, options);
      for (std::size_t i = 0; i < 60; ++i) {
        ASSERT_TRUE(options.labels[i] < 0 || found.clusters[i] == options.labels[i]) << "row " << i;
      }
      expect_definition(x, options, found, "partly given");
    }
  }
}

// More rows than the restarts look at: the sample must carry the labels along.
TEST(UfcmSupervised, PartlyGivenLabelsOfManyRows) {
  const Matrix x = support::mixture(9000, 4, 3, 2, 4, 6);
  UfcmOptions options = with_clusters(3);
  options.labels.assign(9000, -1);
  for (std::size_t i = 0; i < 9000; i += 50) options.labels[i] = static_cast<int>(i / 50 % 3);
  const Selection found = fit(support::dense(x), options);
  for (std::size_t i = 0; i < 9000; ++i) ASSERT_TRUE(options.labels[i] < 0 || found.clusters[i] == options.labels[i]);
  expect_definition(x, options, found, "many rows");
}

TEST(UfcmSupervised, LabelErrors) {
  const Source source = support::dense(support::mixture(20, 4, 2, 2, 3, 1));
  UfcmOptions options = with_clusters(3);
  options.labels = classes_of(20, 4);
  support::expect_error(ErrorCode::usage, {"4 classes", "clusters = 3"}, [&] { fit(source, options); });
  options.labels.assign(19, 0);
  support::expect_error(ErrorCode::usage, {"19 labels", "n = 20"}, [&] { fit(source, options); });
  options.labels.assign(20, -2);
  support::expect_error(ErrorCode::usage, {"labels"}, [&] { fit(source, options); });
  options.labels.assign(20, -1);  // all free: as good as none
  EXPECT_NO_THROW(fit(source, options));
  options.labels.assign(20, 1);  // one class only
  EXPECT_NO_THROW(fit(source, options));
}

// --- (d) Scale ---------------------------------------------------------------------------------------------------

TEST(UfcmScale, BetaFromSparsityIsTheFormula) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{70, 9}, {15, 40}, {320, 270}}) {
    const Matrix x = support::mixture(n, d, 4, d / 2, 4, 4);
    for (const double p : {0.5, 1.0, 1.5}) {
      UfcmOptions options = with_clusters(4);
      options.p = p;
      options.sparsity = 0.7;
      options.iterations = 2;
      const double wanted = support::scale_free_beta(x, 3, 0.7, p);
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        EXPECT_NEAR(resolved(fit(source, options), "beta") / wanted, 1.0, 1e-6)
            << n << " x " << d << " p " << p << (source.sparse() ? " sparse" : "");
      }
    }
  }
}

TEST(UfcmScale, TheUnitOfTheDataDoesNotMatter) {
  for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{80, 12}, {20, 50}}) {
    for (const double alpha : {1.0, 0.3, 2.0}) {
      const Matrix x = support::mixture(n, d, 4, d / 2, 3, 5);
      UfcmOptions options = with_clusters(4);
      options.alpha = alpha;
      const Selection wanted = fit(support::dense(x), options);
      for (const double factor : {1000.0, 0x1p-3, 0x1p10, 0x1p60, 0x1p-60, 0x1p400, 0x1p-400}) {
        Matrix y = x;
        for (Index i = 0; i < y.size(); ++i) y.data()[i] *= factor;
        const Selection found = fit(support::dense(y), options);
        EXPECT_EQ(found.ranking, wanted.ranking) << factor << " alpha " << alpha;
        EXPECT_LE(support::largest_difference(found.scores, wanted.scores), 1e-6 * support::largest(wanted.scores))
            << factor << " alpha " << alpha;
      }
    }
  }
}

TEST(UfcmScale, AnOffsetDoesNotMatter) {
  const Matrix x = support::mixture(100, 10, 3, 4, 4, 6);
  Matrix y = x;
  for (Index i = 0; i < y.size(); ++i) y.data()[i] += 1e8;
  for (const double alpha : {1.0, 0.5}) {
    UfcmOptions options = with_clusters(3);
    options.alpha = alpha;
    const Selection wanted = fit(support::dense(x), options);
    for (const Source& source : {support::dense(y), support::sparse(y)}) {
      const Selection found = fit(source, options);
      EXPECT_LE(support::largest_difference(found.scores, wanted.scores), 1e-5 * support::largest(wanted.scores));
    }
  }
}

TEST(UfcmScale, ExtremeTablesAreFiniteOrRefused) {
  for (const double size : {1e300, 1e-300, 1e155, 1e-155, 3e-310}) {
    for (const double alpha : {1.0, 0.5}) {
      Matrix x = support::mixture(40, 6, 3, 3, 3, 7);
      for (Index i = 0; i < x.size(); ++i) x.data()[i] *= size;
      for (const bool mixed : {false, true}) {
        if (mixed) {
          for (Index i = 0; i < 40; ++i)
            x(i, 4) = std::sin(static_cast<double>(i)), x(i, 5) = 1e-150 * std::cos(static_cast<double>(i));
        }
        for (const Source& source : {support::dense(x), support::sparse(x)}) {
          UfcmOptions options = with_clusters(3);
          options.alpha = alpha;
          try {
            const Selection found = fit(source, options);
            EXPECT_TRUE(support::all_finite(found.scores)) << size;
            EXPECT_TRUE(support::all_finite(found.report.objective)) << size;
          } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::bad_data) << size << ": " << error.what();
          }
        }
      }
    }
  }
}

TEST(UfcmScale, CentersAreInTheUnitsOfTheTable) {
  const Matrix x = support::mixture(40, 6, 3, 3, 3, 7);
  Matrix far = x;
  for (Index i = 0; i < far.size(); ++i) far.data()[i] *= 0x1p300;
  const Selection near_one = fit(support::dense(x), with_clusters(3)),
                  found = fit(support::dense(far), with_clusters(3));
  ASSERT_EQ(found.centers.size(), near_one.centers.size());
  for (std::size_t i = 0; i < found.clusters.size(); ++i) {  // whatever the numbers of clusters and the signs of W
    for (Index k = 0; k < found.centers.cols(); ++k) {
      const double here = found.centers(found.clusters[i], k), there = near_one.centers(near_one.clusters[i], k);
      EXPECT_NEAR(std::abs(here) * 0x1p-300, std::abs(there), 1e-9 * 10);
    }
  }
}

// --- (f) Runs that are resumed ------------------------------------------------------------------------------------

class Kept final : public CheckpointStore {
 public:
  explicit Kept(std::optional<std::string> given = {}) : given_(std::move(given)) {}
  std::string where() const override { return "state"; }
  std::optional<std::string> load() override { return given_; }
  void save(const std::function<std::string()>& state, bool) override { states.push_back(state()); }

  std::vector<std::string> states;

 private:
  std::optional<std::string> given_;
};

// alpha, and whether rows have weights.
class UfcmState : public testing::TestWithParam<std::pair<double, bool>> {
 protected:
  Selection run(CheckpointStore& store) const {
    UfcmOptions options = with_clusters(3);
    options.alpha = GetParam().first;
    options.iterations = 6;
    options.tolerance = 0;
    Context context(2);
    context.checkpoint = &store;
    const Source source = support::dense(x);
    return ufcm(GetParam().second ? source.with_weights(weights) : source, options, context);
  }

  const Matrix x = support::mixture(60, 8, 3, 4, 3, 11);
  const std::vector<double> weights = support::whole_weights(60);
};

TEST_P(UfcmState, EveryStateLeadsToTheSameBits) {
  Kept whole;
  const Selection wanted = run(whole);
  ASSERT_FALSE(whole.states.empty());
  for (const std::string& state : whole.states) {
    Kept kept(state);
    const Selection found = run(kept);
    EXPECT_EQ(found.scores, wanted.scores);
    EXPECT_EQ(found.clusters, wanted.clusters);
    EXPECT_EQ(found.report.objective, wanted.report.objective);
  }
}

// Whether S is formed, or only its products are.
TEST(UfcmPaths, Resume) {
  const Matrix tall = support::mixture(60, 8, 3, 4, 3, 11), wide = support::mixture(20, 90, 3, 9, 3, 12);
  for (const Source& source :
       {support::dense(tall), support::sparse(tall), support::dense(wide), support::sparse(wide)}) {
    for (const double alpha : {0.4, 3.0}) {
      UfcmOptions options = with_clusters(3);
      options.alpha = alpha, options.iterations = 4, options.tolerance = 0;
      const auto run = [&](CheckpointStore& store) {
        Context context(2);
        context.checkpoint = &store;
        return ufcm(source, options, context);
      };
      Kept whole;
      const Selection wanted = run(whole);
      ASSERT_FALSE(whole.states.empty());
      for (const std::string& state : whole.states) {
        Kept kept(state);
        EXPECT_EQ(run(kept).scores, wanted.scores) << wanted.report.path << ", alpha " << alpha;
      }
    }
  }
}

TEST_P(UfcmState, StatesOfAnotherLengthAreRefused) {
  Kept whole;
  run(whole);
  const std::string& good = whole.states.back();
  const auto refused = [&](const std::string& state) {
    Kept kept(state);
    support::expect_error(ErrorCode::bad_data, {"damaged"}, [&] { run(kept); });
  };
  for (std::size_t size = 0; size < good.size(); size += 97) refused(good.substr(0, size));
  refused(good + '\0');
}

TEST_P(UfcmState, ANumberThatIsNoneIsRefusedOrChangesNothing) {
  Kept whole;
  const Selection wanted = run(whole);
  const std::string& good = whole.states.back();
  const double none = std::numeric_limits<double>::quiet_NaN();
  Index refused = 0;
  for (std::size_t at = 0; at + sizeof none <= good.size(); at += sizeof none) {
    Kept kept(std::string(good).replace(at, sizeof none, reinterpret_cast<const char*>(&none), sizeof none));
    try {
      EXPECT_EQ(run(kept).scores, wanted.scores) << at;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data) << at << ": " << error.what();
      ++refused;
    }
  }
  EXPECT_GT(refused, 8 * 3);  // W at least
}

// Before the first iteration no objective tells what beta was; it still cannot be anything.
TEST_P(UfcmState, ABetaThatNoTableHasIsRefused) {
  Kept whole;
  run(whole);
  for (const double beta : {0.0, 5e-324, -1.0, 1e300}) {
    for (std::string state : whole.states) {
      state.replace(sizeof(Index), sizeof beta, reinterpret_cast<const char*>(&beta), sizeof beta);
      Kept kept(state);
      support::expect_error(ErrorCode::bad_data, {"damaged", "beta"}, [&] { run(kept); });
    }
  }
}

// Nor can it be one that another table might have.
TEST_P(UfcmState, AnotherBetaIsRefused) {
  Kept whole;
  run(whole);
  for (const double factor : {0.5, 1 - 1e-6, 1 + 1e-6, 2.0}) {
    for (std::string state : whole.states) {
      double beta = 0;
      std::memcpy(&beta, state.data() + sizeof(Index), sizeof beta);
      beta *= factor;
      state.replace(sizeof(Index), sizeof beta, reinterpret_cast<const char*>(&beta), sizeof beta);
      Kept kept(state);
      support::expect_error(ErrorCode::bad_data, {"damaged"}, [&] { run(kept); });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, UfcmState,
                         testing::Values(std::pair(1.0, false), std::pair(0.4, false), std::pair(1.0, true),
                                         std::pair(0.4, true)));

// --- Exactly k rows of W --------------------------------------------------------------------------------------------

UfcmOptions exactly(Index k, Index clusters, double alpha) {
  UfcmOptions options = with_clusters(clusters);
  options.exact = true, options.features = k, options.alpha = alpha;
  return options;
}

// M = (1 - alpha) S + alpha B, from its definition.
Matrix matrix_of(const Matrix& x, const std::vector<int>& clusters, double alpha) {
  const Matrix z = support::centered_columns(x);
  const Index c = *std::max_element(clusters.begin(), clusters.end()) + 1;
  Matrix sums(c, x.cols());
  std::vector<double> counts(static_cast<std::size_t>(c));
  for (Index i = 0; i < z.rows(); ++i) {
    const int k = clusters[static_cast<std::size_t>(i)];
    ++counts[static_cast<std::size_t>(k)];
    for (Index j = 0; j < z.cols(); ++j) sums(k, j) += z(i, j);
  }
  Matrix m = product_transposed_left(z, z);
  for (Index a = 0; a < m.rows(); ++a) {
    for (Index b = 0; b < m.cols(); ++b) {
      double between = 0;
      for (Index k = 0; k < c; ++k) {
        const double count = counts[static_cast<std::size_t>(k)];
        if (count > 0) between += sums(k, a) * sums(k, b) / count;
      }
      m(a, b) = (1 - alpha) * m(a, b) + alpha * between;
    }
  }
  return m;
}

// The sum of the positive ones of the m largest eigenvalues of M_CC, and at least the largest.
double value_of_rows(const Matrix& m, const std::vector<Index>& columns, Index dims) {
  const auto k = static_cast<Index>(columns.size());
  Matrix among(k, k);
  for (Index i = 0; i < k; ++i) {
    for (Index j = 0; j < k; ++j)
      among(i, j) = m(columns[static_cast<std::size_t>(i)], columns[static_cast<std::size_t>(j)]);
  }
  const std::vector<double> values = symmetric_eigen(among).values;
  double sum = values[0];
  for (Index t = 1; t < std::min(dims, k); ++t) sum += std::max(0.0, values[static_cast<std::size_t>(t)]);
  return sum;
}

std::vector<Index> first_sorted(const Selection& found, Index k) {
  std::vector<Index> out(found.ranking.begin(), found.ranking.begin() + k);
  std::sort(out.begin(), out.end());
  return out;
}

TEST(UfcmExact, HasKRowsNeverFallsAndSolvesForThem) {
  for (const double alpha : {0.0, 0.3, 1.0}) {
    for (const auto& [n, d] : {std::pair<Index, Index>{80, 20}, {18, 50}}) {
      const Matrix x = support::mixture(n, d, 4, 8, 3, 21);
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        const Selection found = fit(source, exactly(6, 4, alpha));
        const Matrix& w = found.components;
        Index used = 0;
        for (Index j = 0; j < d; ++j) {
          double norm = 0;
          for (Index t = 0; t < w.cols(); ++t) norm += w(j, t) * w(j, t);
          used += norm > 0 ? 1 : 0;
          if (norm > 1e-7) {
            EXPECT_NEAR(found.scores[static_cast<std::size_t>(j)], std::sqrt(norm), 1e-12);
          }
          if (norm == 0) {
            EXPECT_LT(found.scores[static_cast<std::size_t>(j)], 1e-4);
          }
        }
        EXPECT_LE(used, 6);
        const Matrix wtw = product_transposed_left(w, w);
        for (Index i = 0; i < wtw.rows(); ++i) {
          for (Index j = 0; j < wtw.cols(); ++j) EXPECT_NEAR(wtw(i, j), i == j ? 1.0 : 0.0, 1e-9);
        }
        const auto& objective = found.report.objective;
        for (std::size_t t = 1; t < objective.size(); ++t) {
          EXPECT_GE(objective[t], objective[t - 1] - 1e-9 * std::abs(objective[t]));
        }
        const Matrix m = matrix_of(x, found.clusters, alpha);
        EXPECT_NEAR(objective.back(), dot(w, product(m, w)), 1e-8 * std::abs(objective.back()));
        if (found.report.status == Status::converged) {
          EXPECT_NEAR(objective.back(), value_of_rows(m, first_sorted(found, 6), w.cols()),
                      1e-5 * std::abs(objective.back()))
              << "alpha " << alpha;
        }
      }
    }
  }
}

// The best of all subsets of k columns at the U that labels fix.
TEST(UfcmExact, ComesCloseToTheBestSubsetOfAll) {
  constexpr Index kColumns = 11, kRows = 4, kClusters = 4;
  for (const double alpha : {0.0, 0.5, 1.0}) {
    double share = 0;
    constexpr int kTables = 8;
    for (int table = 0; table < kTables; ++table) {
      const auto seed = static_cast<std::uint64_t>(40 + table);
      const Matrix x = support::mixture(60, kColumns, kClusters, 6, 2, seed);
      UfcmOptions options = exactly(kRows, kClusters, alpha);
      for (Index i = 0; i < x.rows(); ++i) options.labels.push_back(static_cast<int>(i % kClusters));
      const Selection found = fit(support::dense(x), options);
      const Matrix m = matrix_of(x, options.labels, alpha);
      double best = -std::numeric_limits<double>::infinity(), least = -best;
      for (unsigned mask = 0; mask < (1u << kColumns); ++mask) {
        std::vector<Index> subset;
        for (Index j = 0; j < kColumns; ++j) {
          if ((mask >> j & 1u) != 0) subset.push_back(j);
        }
        if (static_cast<Index>(subset.size()) != kRows) continue;
        const double value = value_of_rows(m, subset, kClusters - 1);
        best = std::max(best, value), least = std::min(least, value);
      }
      const double reached = found.report.objective.back();
      EXPECT_LE(reached, best + 1e-9 * std::abs(best));
      EXPECT_NEAR(reached, value_of_rows(m, first_sorted(found, kRows), kClusters - 1), 1e-9 * std::abs(best));
      share += (reached - least) / (best - least) / kTables;
    }
    EXPECT_GE(share, 0.97) << "alpha " << alpha;
  }
}

TEST(UfcmExact, IncludedColumnsAreAmongTheRows) {
  const Matrix x = support::mixture(60, 12, 3, 4, 4, 5);
  UfcmOptions options = exactly(4, 3, 1.0);
  const Selection free = fit(support::dense(x), options);
  options.forced = {free.ranking[11], free.ranking[10]};
  const Selection found = fit(support::dense(x), options);
  for (const Index j : options.forced) EXPECT_GE(found.scores[static_cast<std::size_t>(j)], 1e-4);
}

TEST(UfcmExact, AllColumnsAreTheEigenvectorsOfM) {
  const Matrix x = support::mixture(60, 10, 3, 4, 4, 6);
  const Selection found = fit(support::dense(x), exactly(10, 3, 0.5));
  const EigenPairs pairs = symmetric_eigen(matrix_of(x, found.clusters, 0.5));
  for (Index j = 0; j < 10; ++j) {
    EXPECT_NEAR(found.scores[static_cast<std::size_t>(j)], std::hypot(pairs.vectors(j, 0), pairs.vectors(j, 1)), 1e-5);
  }
}

TEST(UfcmExact, RefusesWhatItCannotDo) {
  const Source source = support::dense(support::mixture(30, 8, 3, 4, 4, 7));
  UfcmOptions options = exactly(4, 3, 1.0);
  options.features.reset();
  support::expect_error(ErrorCode::usage, {"ufcm", "exact needs a number of features"}, [&] { fit(source, options); });
  options = exactly(9, 3, 1.0);
  support::expect_error(ErrorCode::usage, {"features = 9", "1..d = 8"}, [&] { fit(source, options); });
  options = exactly(2, 3, 1.0), options.dims = 3;
  support::expect_error(ErrorCode::usage, {"dims = 3", "1..k = 2"}, [&] { fit(source, options); });
  options = exactly(2, 3, 1.5);
  support::expect_error(ErrorCode::usage, {"alpha = 1.5", "0..1 with exact"}, [&] { fit(source, options); });
  options = exactly(2, 3, 1.0), options.order = "qr";
  support::expect_error(ErrorCode::usage, {"order = qr", "exact"}, [&] { fit(source, options); });
  options = exactly(2, 3, 1.0), options.p = 0.5;
  EXPECT_EQ(fit(source, options).report.warnings.size(), 1u);
}

TEST(UfcmExact, EveryStateLeadsToTheSameBits) {
  const Matrix x = support::mixture(60, 12, 3, 4, 3, 11);
  for (const double alpha : {1.0, 0.4}) {
    UfcmOptions options = exactly(5, 3, alpha);
    options.iterations = 6, options.tolerance = 0;
    const auto run = [&](CheckpointStore& store) {
      Context context(2);
      context.checkpoint = &store;
      return ufcm(support::dense(x), options, context);
    };
    Kept whole;
    const Selection wanted = run(whole);
    ASSERT_FALSE(whole.states.empty());
    for (const std::string& state : whole.states) {
      Kept kept(state);
      const Selection found = run(kept);
      EXPECT_EQ(found.scores, wanted.scores);
      EXPECT_EQ(found.report.objective, wanted.report.objective);
    }
  }
}

TEST(UfcmExact, ManyColumnsAndASampleOfManyRows) {
  const Matrix wide = support::mixture(30, 1500, 3, 200, 4, 8);
  const Selection found = fit(support::dense(wide), exactly(1100, 3, 0.5));
  EXPECT_LE(std::abs(squared_norm(found.components) - 2), 1e-9);
}

// --- (e) Columns -------------------------------------------------------------------------------------------------

TEST(UfcmColumns, ConstantColumnsScoreZeroAndRankLast) {
  for (const double alpha : {0.0, 0.5, 1.0, 2.0, 1000.0}) {
    for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{50, 8}, {12, 30}}) {
      Matrix x = support::mixture(n, d, 3, d / 2, 3, 8);
      for (Index i = 0; i < n; ++i) x(i, 0) = 0.1, x(i, 4) = 0, x(i, 6) = 1e6;
      UfcmOptions options = with_clusters(3);
      options.alpha = alpha;
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        const Selection found = fit(source, options);
        for (const std::size_t j : {0u, 4u, 6u}) EXPECT_EQ(found.scores[j], 0.0) << alpha;
        std::vector<Index> zero;
        for (Index j = 0; j < d; ++j) {
          if (found.scores[static_cast<std::size_t>(j)] <= 1e-9 * support::largest(found.scores)) zero.push_back(j);
        }
        // Others may have no score either; among those, positions decide.
        EXPECT_TRUE(
            std::equal(zero.begin(), zero.end(), found.ranking.end() - static_cast<std::ptrdiff_t>(zero.size())))
            << alpha;
        expect_definition(x, options, found, concat("constant columns, alpha ", alpha));
      }
    }
  }
}

TEST(UfcmColumns, DuplicatesTieAndTheLowerIndexComesFirst) {
  for (const double alpha : {0.0, 0.5, 1.0, 3.0}) {
    for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{60, 10}, {14, 40}}) {
      Matrix x = support::mixture(n, d, 3, d / 2, 3, 9);
      for (Index i = 0; i < n; ++i) x(i, 7) = x(i, 2), x(i, 9) = x(i, 2), x(i, 8) = x(i, 1);
      UfcmOptions options = with_clusters(3);
      options.alpha = alpha;
      for (const Source& source : {support::dense(x), support::sparse(x)}) {
        const Selection found = fit(source, options);
        const double tie = 1e-9 * support::largest(found.scores);
        EXPECT_NEAR(found.scores[2], found.scores[7], tie) << alpha;
        EXPECT_NEAR(found.scores[2], found.scores[9], tie) << alpha;
        EXPECT_NEAR(found.scores[1], found.scores[8], tie) << alpha;
        const auto place = [&](Index j) { return std::find(found.ranking.begin(), found.ranking.end(), j); };
        EXPECT_LT(place(2), place(7));
        EXPECT_LT(place(7), place(9));
        EXPECT_LT(place(1), place(8));
      }
    }
  }
}

TEST(UfcmColumns, PermutingColumnsPermutesScores) {
  for (const double alpha : {0.0, 0.1, 1.0, 10.0}) {
    for (const auto& [n, d] : std::vector<std::pair<Index, Index>>{{70, 12}, {16, 50}, {300, 280}}) {
      if (n == 300 && alpha == 10.0) continue;
      const Matrix x = support::mixture(n, d, 4, d / 2, 3, 10);
      const std::vector<Index> order = support::shuffled(d, 11);
      const Matrix permuted = support::columns_of(x, order);
      UfcmOptions options = with_clusters(4);
      options.alpha = alpha;
      options.restarts = 5;
      for (const bool sparse : {false, true}) {
        const Selection a = fit(sparse ? support::sparse(x) : support::dense(x), options);
        const Selection b = fit(sparse ? support::sparse(permuted) : support::dense(permuted), options);
        std::vector<double> moved;
        for (const Index j : order) moved.push_back(a.scores[static_cast<std::size_t>(j)]);
        EXPECT_LE(support::largest_difference(moved, b.scores), 1e-9 * support::largest(a.scores))
            << "alpha " << alpha << " " << n << " x " << d << (sparse ? " sparse" : " dense");
      }
    }
  }
}

TEST(UfcmColumns, FloatAndDoubleTwins) {
  for (const double alpha : {1.0, 0.5}) {
    Matrix x = support::mixture(80, 12, 4, 6, 4, 12), rounded = x;
    for (Index i = 0; i < x.size(); ++i) rounded.data()[i] = static_cast<double>(static_cast<float>(x.data()[i]));
    UfcmOptions options = with_clusters(4);
    options.alpha = alpha;
    const Selection single = fit(support::dense<float>(x), options);
    EXPECT_TRUE(support::same_bits(single.scores, fit(support::dense(rounded), options).scores));
    EXPECT_LE(support::largest_difference(single.scores, fit(support::dense(x), options).scores),
              1e-5 * support::largest(single.scores));
    EXPECT_LE(support::largest_difference(single.scores, fit(support::sparse<float>(x), options).scores),
              1e-5 * support::largest(single.scores));
  }
}

TEST(UfcmColumns, InformativeColumnsWin) {
  const Matrix x = support::mixture(200, 30, 4, 5, 5, 13);
  const Selection found = fit(support::dense(x), with_clusters(4));
  std::vector<Index> best(found.ranking.begin(), found.ranking.begin() + 5);
  std::sort(best.begin(), best.end());
  EXPECT_EQ(best, (std::vector<Index>{0, 1, 2, 3, 4}));
}

// --- (f) Shapes and limits ---------------------------------------------------------------------------------------

TEST(UfcmShape, DefaultDims) {
  const Matrix x = support::mixture(50, 10, 5, 10, 3, 14);
  EXPECT_EQ(resolved(fit(support::dense(x), with_clusters(4)), "dims"), 3);
  EXPECT_EQ(resolved(fit(support::dense(x), with_clusters(2)), "dims"), 1);
  EXPECT_EQ(resolved(fit(support::dense(x), with_clusters(30)), "dims"), 9);  // below the columns that vary
  Matrix line(30, 6);
  for (Index i = 0; i < 30; ++i) {
    for (Index j = 0; j < 6; ++j) line(i, j) = static_cast<double>((j + 1) * (i % 7));
  }
  for (const Source& source : {support::dense(line), support::sparse(line)}) {
    const Selection found = fit(source, with_clusters(5));
    EXPECT_EQ(resolved(found, "dims"), 1);
    EXPECT_TRUE(support::all_finite(found.scores));
  }
}

// Above alpha = 1 M is indefinite, and an unfinished W would let rounding grow until the twins part.
TEST(UfcmShape, DenseAndSparseAgreeAboveAlphaOne) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Matrix x = support::thinned(support::mixture(200, 16, 4, 8, 4, seed), 0.5, seed + 10);
    for (const auto& [alpha, beta] : std::vector<std::pair<double, double>>{{2, 10}, {5, 50}, {10, 100}}) {
      UfcmOptions options = with_clusters(4);
      options.alpha = alpha;
      options.beta = beta;
      const Selection dense = fit(support::dense(x), options), sparse = fit(support::sparse(x), options);
      EXPECT_LE(support::largest_difference(dense.scores, sparse.scores), 1e-5 * support::largest(dense.scores))
          << "seed " << seed << ", alpha " << alpha;
    }
  }
}

TEST(UfcmShape, SmallestProblems) {
  for (const double alpha : {0.0, 0.5, 1.0, 5.0}) {
    for (const double beta : {-1.0, 0.0, 1.0}) {
      const auto run = [&](const Matrix& x, Index clusters, Index dims) {
        UfcmOptions options = with_clusters(clusters);
        options.alpha = alpha;
        if (beta >= 0) options.beta = beta;
        if (dims > 0) options.dims = dims;
        for (const Source& source : {support::dense(x), support::sparse(x)}) {
          const std::string what =
              concat(x.rows(), " x ", x.cols(), " c ", clusters, " dims ", dims, " alpha ", alpha, " beta ", beta);
          try {
            expect_definition(x, options, fit(source, options), what);
          } catch (const Error& error) {
            ADD_FAILURE() << what << ": " << error.what();
          }
        }
      };
      run(support::random_matrix(10, 1, 1), 2, 0);  // d = 1
      run(support::random_matrix(10, 1, 1), 1, 1);
      run(support::random_matrix(2, 5, 2), 2, 0);  // n = 2
      run(support::random_matrix(2, 1, 3), 2, 0);
      run(support::random_matrix(2, 5, 4), 1, 0);
      run(support::random_matrix(12, 6, 5), 1, 0);   // one cluster
      run(support::random_matrix(12, 6, 6), 12, 0);  // as many clusters as rows
      run(support::random_matrix(12, 6, 7), 3, 6);   // dims = d
      run(support::random_matrix(12, 6, 8), 3, 1);   // dims = 1
      run(support::random_matrix(5, 20, 9), 3, 2);
    }
  }
}

TEST(UfcmShape, DirectionsThatAreNotThereAreNotUsed) {
  const Matrix x = support::mixture(60, 10, 3, 5, 4, 15);
  UfcmOptions options = with_clusters(3);
  options.beta = 0;
  options.dims = 6;
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    const Selection found = fit(source, options);
    EXPECT_EQ(resolved(found, "dims"), 2);  // c - 1 of the between-class scatter
    EXPECT_EQ(found.components.cols(), 2);
    EXPECT_FALSE(found.report.warnings.empty());
    expect_definition(x, options, found, "fewer directions");
  }
}

TEST(UfcmShape, IterationsAndTolerance) {
  const Matrix x = support::mixture(50, 8, 3, 4, 3, 16);
  UfcmOptions options = with_clusters(3);
  options.iterations = 1;
  const Selection one = fit(support::dense(x), options);
  EXPECT_EQ(one.report.iterations, 1);
  EXPECT_EQ(one.report.objective.size(), 1u);
  expect_definition(x, options, one, "one iteration");
  options.iterations = 17;
  options.tolerance = 0;
  const Selection all = fit(support::dense(x), options);
  EXPECT_EQ(all.report.iterations, 17);
  expect_definition(x, options, all, "every iteration");
  options.iterations = 1000;
  options.tolerance = 1e-6;
  const Selection done = fit(support::dense(x), options);
  EXPECT_EQ(done.report.status, Status::converged);
  EXPECT_LT(done.report.iterations, 1000);
}

TEST(UfcmShape, AwkwardRows) {
  // Repeated rows; fewer distinct rows than clusters; far-apart clusters.
  Matrix few(40, 5), far = support::random_matrix(40, 5, 17);
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 5; ++j) {
      few(i, j) = static_cast<double>((i % 3) * (j + 1) % 4);
      far(i, j) += i % 2 ? 1e9 : 0;
    }
  }
  for (const double alpha : {0.5, 1.0, 2.0}) {
    UfcmOptions options = with_clusters(8);
    options.alpha = alpha;
    for (const Matrix* x : {&few, &far}) {
      for (const Source& source : {support::dense(*x), support::sparse(*x)}) {
        const Selection found = fit(source, options);
        expect_definition(*x, options, found, concat("awkward rows, alpha ", alpha, x == &few ? " few" : " far"));
      }
    }
  }
}

// Restarts compete on a sample of the rows; the sample must not be smaller than the number of clusters.
TEST(UfcmShape, MoreClustersThanTheSampleHasRows) {
  UfcmOptions options = with_clusters(8200);
  options.restarts = 1;
  options.iterations = 1;
  const Selection found = fit(support::dense(support::random_matrix(8300, 2, 25)), options);
  EXPECT_TRUE(support::all_finite(found.scores));
}

// n < d must not need a d x d matrix: 20 x 30000 would be 7 GB.
TEST(UfcmShape, WideTablesNeedNoSquareMatrix) {
  const Matrix x = support::mixture(20, 30000, 3, 10, 5, 18);
  for (const double alpha : {1.0, 0.5}) {
    UfcmOptions options = with_clusters(3);
    options.alpha = alpha;
    options.iterations = 3;
    EXPECT_TRUE(support::all_finite(fit(support::dense(x), options).scores));
  }
}

// --- (g) Errors --------------------------------------------------------------------------------------------------

TEST(UfcmErrors, Usage) {
  const Source source = support::dense(support::mixture(20, 4, 2, 2, 3, 19));
  const auto refused = [&](const std::vector<std::string>& pieces, auto change) {
    UfcmOptions options = with_clusters(3);
    change(options);
    support::expect_error(ErrorCode::usage, pieces, [&] { fit(source, options); });
  };
  const double inf = std::numeric_limits<double>::infinity();
  refused({"ufcm", "clusters = 21", "n = 20"}, [](UfcmOptions& o) { o.clusters = 21; });
  refused({"ufcm", "clusters = 0"}, [](UfcmOptions& o) { o.clusters = 0; });
  refused({"ufcm", "clusters = -3"}, [](UfcmOptions& o) { o.clusters = -3; });
  refused({"ufcm", "p = 0"}, [](UfcmOptions& o) { o.p = 0; });
  refused({"ufcm", "p = 2.5"}, [](UfcmOptions& o) { o.p = 2.5; });
  refused({"ufcm", "p = nan"}, [](UfcmOptions& o) { o.p = kNan; });
  refused({"ufcm", "alpha = -1"}, [](UfcmOptions& o) { o.alpha = -1; });
  refused({"ufcm", "alpha = nan"}, [](UfcmOptions& o) { o.alpha = kNan; });
  refused({"ufcm", "alpha = inf"}, [&](UfcmOptions& o) { o.alpha = inf; });
  refused({"ufcm", "beta = nan"}, [](UfcmOptions& o) { o.beta = kNan; });
  refused({"ufcm", "beta = -0.1"}, [](UfcmOptions& o) { o.beta = -0.1; });
  refused({"ufcm", "sparsity = nan"}, [](UfcmOptions& o) { o.sparsity = kNan; });
  refused({"ufcm", "tolerance = nan"}, [](UfcmOptions& o) { o.tolerance = kNan; });
  refused({"ufcm", "tolerance = -1"}, [](UfcmOptions& o) { o.tolerance = -1; });
  refused({"ufcm", "dims = 5", "d = 4"}, [](UfcmOptions& o) { o.dims = 5; });
  refused({"ufcm", "dims = 0"}, [](UfcmOptions& o) { o.dims = 0; });
  refused({"ufcm", "restarts = 0"}, [](UfcmOptions& o) { o.restarts = 0; });
  refused({"ufcm", "iterations = 0"}, [](UfcmOptions& o) { o.iterations = 0; });
}

TEST(UfcmErrors, BadData) {
  Matrix x = support::mixture(20, 4, 2, 2, 3, 20);
  x(7, 2) = kNan;
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    support::expect_error(ErrorCode::bad_data, {"row 7, column 2"}, [&] { fit(source, with_clusters(3)); });
  }
  const Matrix constant(20, 4, 0.1);
  for (const Source& source : {support::dense(constant), support::sparse(constant), support::sparse(Matrix(20, 4))}) {
    support::expect_error(ErrorCode::bad_data, {"no variation"}, [&] { fit(source, with_clusters(3)); });
  }
  support::expect_error(ErrorCode::bad_data, {"1 row"},
                        [&] { fit(support::dense(support::random_matrix(1, 4, 1)), with_clusters(1)); });
  support::expect_error(ErrorCode::bad_data, {"0 row"}, [&] { fit(support::dense(Matrix(0, 4)), with_clusters(1)); });
  support::expect_error(ErrorCode::bad_data, {"0 features"},
                        [&] { fit(support::dense(Matrix(4, 0)), with_clusters(1)); });
}

// --- (h) The way back to the caller ------------------------------------------------------------------------------

TEST(UfcmCallbacks, ProgressIsToldAndRises) {
  const Source source = support::dense(support::mixture(60, 8, 3, 4, 3, 21));
  Context context(2);
  std::vector<double> fractions;
  context.on_progress = [&](const Progress& progress) {
    EXPECT_FALSE(progress.phase.empty());
    if (progress.phase != "iterations") return;
    EXPECT_TRUE(progress.steps.at_most) << "it may converge before";
    fractions.push_back(progress.fraction());
  };
  const Selection found = ufcm(source, with_clusters(3), context);
  ASSERT_EQ(static_cast<Index>(fractions.size()), 1 + found.report.iterations);
  for (std::size_t k = 0; k < fractions.size(); ++k) {
    EXPECT_GE(fractions[k], k == 0 ? 0.0 : fractions[k - 1]);
    EXPECT_LE(fractions[k], 1.0);
  }
}

TEST(UfcmCallbacks, CancellationStopsAnywhere) {
  // A new source each time: its statistics would be kept, and the polls of that pass with them.
  const Matrix x = support::mixture(60, 8, 3, 4, 3, 22);
  const auto source = [&] { return support::dense(x, 7); };
  for (const int threads : {1, 3}) {
    for (const double alpha : {1.0, 0.5}) {
      UfcmOptions options = with_clusters(3);
      options.alpha = alpha;
      Context counting(threads);
      std::atomic<int> polls{0};
      counting.is_cancelled = [&] { return ++polls < 0; };
      ufcm(source(), options, counting);
      ASSERT_GT(polls, 10);
      for (const int at : {1, 2, polls / 4, polls / 2, polls - 1}) {
        Context context(threads);
        std::atomic<int> seen{0};
        context.is_cancelled = [&] { return ++seen >= at; };
        support::expect_error(ErrorCode::interrupted, {"interrupted"}, [&] { ufcm(source(), options, context); });
        // The context serves another run.
        context.is_cancelled = {};
        EXPECT_NO_THROW(ufcm(source(), options, context));
      }
    }
  }
}

struct Custom : std::runtime_error {
  using std::runtime_error::runtime_error;
};

TEST(UfcmCallbacks, WhatACallbackThrowsComesBack) {
  const Source source = support::dense(support::mixture(60, 8, 3, 4, 3, 23), 7);
  for (const int threads : {1, 3}) {
    Context context(threads);
    context.on_progress = [](const Progress&) { throw Custom("progress"); };
    EXPECT_THROW(ufcm(source, with_clusters(3), context), Custom);
    context.on_progress = {};
    std::atomic<int> polls{0};
    context.is_cancelled = [&]() -> bool {
      if (++polls == 20) throw Custom("poll");
      return false;
    };
    EXPECT_THROW(ufcm(source, with_clusters(3), context), Custom);
    context.is_cancelled = {};
    EXPECT_NO_THROW(ufcm(source, with_clusters(3), context));
  }
}

TEST(UfcmReport, SaysHowItWasDone) {
  const Matrix x = support::mixture(50, 8, 3, 4, 3, 24);
  const Selection found = fit(support::dense(x), with_clusters(3));
  EXPECT_FALSE(found.report.path.empty());
  EXPECT_GT(found.report.passes, 0);
  EXPECT_GT(found.report.seconds, 0);
  EXPECT_EQ(found.centers.rows(), 3);
  EXPECT_EQ(found.centers.cols(), found.components.cols());
  // G = (U'U)^-1 U'ZW.
  const auto y = support::times(support::centered(x), support::widened(found.components));
  for (Index k = 0; k < 3; ++k) {
    for (Index j = 0; j < y.cols(); ++j) {
      long double sum = 0, count = 0;
      for (Index i = 0; i < 50; ++i) {
        if (found.clusters[static_cast<std::size_t>(i)] == k) sum += y(i, j), ++count;
      }
      EXPECT_NEAR(found.centers(k, j), static_cast<double>(sum / std::max(count, 1.0L)), 1e-10);
    }
  }
}

}  // namespace
}  // namespace tamis
