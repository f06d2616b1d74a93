#include "tamis/select/methods/spcafs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/eigen.h"
#include "tamis/select/ufcm/ufcm.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

Selection run(const Source& source, const SpcafsOptions& options = {}) {
  Context context(2);
  return spcafs(source, options, context);
}

// ||X - X W W'||^2 + beta sum_i (||w^i||^2 + 1e-10)^(p/2), straight from the definition.
double loss(const Matrix& table, const Matrix& w, double beta, double p) {
  const Matrix x = support::centered_columns(table), fitted = product(product(x, w), transposed(w));
  double sum = 0;
  for (Index i = 0; i < x.size(); ++i) sum += std::pow(x.data()[i] - fitted.data()[i], 2);
  for (Index i = 0; i < w.rows(); ++i) {
    double norm = 0;
    for (Index k = 0; k < w.cols(); ++k) norm += w(i, k) * w(i, k);
    sum += beta * std::pow(norm + 1e-10, p / 2);
  }
  return sum;
}

TEST(Spcafs, TheObjectiveIsThePublishedOneAndFalls) {
  for (const Matrix& x : {support::mixture(60, 12, 3, 5, 4, 1), support::mixture(20, 45, 3, 15, 4, 2)}) {
    for (const double p : {0.5, 1.0}) {
      SpcafsOptions options;
      options.beta = 3.0, options.p = p, options.dims = 3;
      const Selection found = run(support::dense(x), options);
      const auto& objective = found.report.objective;
      EXPECT_NEAR(objective.back(), loss(x, found.components, 3.0, p), 1e-9 * objective.front());
      for (std::size_t t = 1; t < objective.size(); ++t) {
        EXPECT_LE(objective[t], objective[t - 1] + 1e-9 * objective.front());
      }
      EXPECT_NEAR(found.report.terms[0].second.back() + 3.0 * found.report.terms[1].second.back(), objective.back(),
                  1e-9 * objective.front());
    }
  }
}

// Without a penalty W spans the leading eigenvectors V of X'X: ||w^i||^2 = (VV')_ii, and what is left of X is the rest
// of its spectrum.
TEST(Spcafs, WithoutAPenaltyItIsPca) {
  const Matrix table = support::mixture(80, 9, 4, 9, 6, 3), x = support::centered_columns(table);
  SpcafsOptions options;
  options.beta = 0.0, options.dims = 3, options.tolerance = 0, options.iterations = 40;
  const Selection found = run(support::dense(table), options);
  const EigenPairs all = symmetric_eigen(product_transposed_left(x, x));
  double rest = 0;
  for (std::size_t k = 3; k < 9; ++k) rest += all.values[k];
  EXPECT_NEAR(found.report.objective.back(), rest, 1e-8 * all.values[0]);
  for (Index i = 0; i < 9; ++i) {
    double square = 0;
    for (Index k = 0; k < 3; ++k) square += all.vectors(i, k) * all.vectors(i, k);
    EXPECT_NEAR(found.scores[static_cast<std::size_t>(i)], std::sqrt(square), 1e-5);
  }
}

TEST(Spcafs, IsUfcmAtAlphaZero) {
  const Matrix x = support::mixture(70, 20, 3, 6, 4, 4);
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    UfcmOptions twin;
    twin.alpha = 0, twin.tolerance = 0, twin.iterations = 6;
    SpcafsOptions options;
    options.tolerance = 0, options.iterations = 6;
    Context context(2);
    EXPECT_TRUE(support::same_bits(run(source, options).scores, ufcm(source, twin, context).scores));
  }
}

TEST(Spcafs, KnowsNoClusters) {
  const Selection found = run(support::dense(support::mixture(40, 8, 3, 4, 4, 5)));
  EXPECT_TRUE(found.clusters.empty());
  EXPECT_TRUE(found.centers.empty());
  EXPECT_EQ(found.components.cols(), 7);
}

TEST(Spcafs, ComplainsUnderItsOwnName) {
  const Source source = support::dense(support::mixture(40, 8, 3, 4, 4, 5));
  SpcafsOptions options;
  options.dims = 9;
  support::expect_error(ErrorCode::usage, {"spcafs: dims = 9", "need 1..d = 8"}, [&] { run(source, options); });
}

}  // namespace
}  // namespace tamis
