#include "tamis/linalg/eigen.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tamis/linalg/dense.h"
#include "tests/support/seeds.h"
#include "tests/support/spectra.h"

namespace tamis {
namespace {

constexpr double kThreshold = 100;  // for iterative solvers

SymmetricOperator operator_of(const Matrix& a) {
  SymmetricOperator m;
  m.dim = a.rows();
  m.apply = [&a](const Matrix& v, const Matrix&) { return product(a, v); };
  return m;
}

RitzPairs start_of(Index dim, Index width, std::uint64_t seed) {
  RitzPairs start;
  start.vectors = support::random_orthonormal(dim, width, seed);
  return start;
}

DavidsonOptions patient(Index count) {
  DavidsonOptions options;
  options.count = count;
  options.steps = 2000;
  options.tolerance = 1e-14;
  return options;
}

void expect_eigenpairs(const std::string& name, const Matrix& a, const RitzPairs& found, Index count, double slack) {
  EXPECT_LT(support::residual_ratio(a, found.values, found.vectors, count), slack) << name;
  EXPECT_LT(support::orthogonality_ratio(found.vectors), kThreshold) << name;
  const std::vector<double> wanted = symmetric_eigen(a).values;
  const double norm = support::one_norm(a);
  for (Index k = 0; k < count; ++k) {
    const auto at = static_cast<std::size_t>(k);
    EXPECT_NEAR(found.values[at], wanted[at], kThreshold * static_cast<double>(a.rows()) * support::kUlp * norm)
        << name << ": eigenvalue " << k << " was missed";
  }
}

TEST(LargestEigenpairs, ResidualRatiosOverAllKinds) {
  for (const Index n : {10, 60}) {
    for (const auto& [name, a] : support::kinds(n)) {
      const Index count = 5, width = 8;
      const RitzPairs found = largest_eigenpairs(operator_of(a), start_of(n, width, 1), patient(count));
      ASSERT_EQ(found.vectors.cols(), width) << name;
      ASSERT_EQ(static_cast<Index>(found.values.size()), width) << name;
      expect_eigenpairs(name, a, found, count, kThreshold);
    }
  }
}

// Many equal or nearly equal values next to wanted ones: none may be missed.
TEST(LargestEigenpairs, ClustersLoseNoEigenvalue) {
  const Index n = 120;
  for (const double gap : {0.0, 1e-12, 1e-8, 1e-4}) {
    std::vector<double> values(static_cast<std::size_t>(n));
    for (Index k = 0; k < n; ++k) {
      values[static_cast<std::size_t>(k)] = k < 4   ? 2.0 + gap * static_cast<double>(k)
                                            : k < 7 ? 1.5 + gap * static_cast<double>(k)
                                                    : 1.0 / static_cast<double>(k);
    }
    const Matrix a = support::with_spectrum(values, 2);
    for (const Index count : {3, 4, 6, 7}) {
      const RitzPairs found = largest_eigenpairs(operator_of(a), start_of(n, count + 2, 3), patient(count));
      expect_eigenpairs("gap " + std::to_string(gap), a, found, count, kThreshold);
    }
  }
}

TEST(LargestEigenpairs, TinyDimensions) {
  for (const Index n : {1, 2, 3, 4}) {
    for (Index width = 1; width <= n; ++width) {
      for (const auto& [name, a] : support::kinds(n)) {
        const RitzPairs found = largest_eigenpairs(operator_of(a), start_of(n, width, 4), patient(width));
        ASSERT_EQ(found.vectors.cols(), width) << name;
        EXPECT_LT(support::orthogonality_ratio(found.vectors), kThreshold) << name << " " << n << " " << width;
        EXPECT_LT(support::residual_ratio(a, found.values, found.vectors, width), kThreshold)
            << name << " " << n << " " << width;
      }
    }
  }
}

// What UFCM solves at alpha = 1: A'A - beta D, D spread up to 1e8, preconditioned by 1 / (beta D + theta).
struct Penalised {
  Penalised(Index d, Index c, double most, std::uint64_t seed) : a(support::random_matrix(c, d, seed)) {
    const Random random = support::seeded(seed, 5);
    for (Index i = 0; i < d; ++i) weights.push_back(std::pow(most, random.uniform(static_cast<std::uint64_t>(i))) - 1);
    for (Index i = 0; i < d / 3; ++i)
      weights[static_cast<std::size_t>(i)] = 0.1 * random.uniform(static_cast<std::uint64_t>(1000 + i));
    m.dim = d;
    m.apply = [this](const Matrix& v, const Matrix&) {
      Matrix out = product_transposed_left(a, product(a, v));
      for (Index i = 0; i < out.rows(); ++i) {
        for (Index k = 0; k < out.cols(); ++k) out(i, k) -= weights[static_cast<std::size_t>(i)] * v(i, k);
      }
      return out;
    };
    m.precondition = [this](const std::vector<double>& values, Matrix& r) {
      for (Index i = 0; i < r.rows(); ++i) {
        for (Index k = 0; k < r.cols(); ++k) {
          const double shift = weights[static_cast<std::size_t>(i)] + values[static_cast<std::size_t>(k)];
          r(i, k) /= std::max(std::abs(shift), 1e-6 * std::abs(values.front()) + 1e-300);
        }
      }
    };
  }
  Matrix dense() const {
    Matrix out = product_transposed_left(a, a);
    for (Index i = 0; i < out.rows(); ++i) out(i, i) -= weights[static_cast<std::size_t>(i)];
    return support::symmetric_part(out);
  }
  Matrix a;
  std::vector<double> weights;
  SymmetricOperator m;
};

TEST(LargestEigenpairs, LowRankMinusAHugeDiagonal) {
  for (const double most : {1e2, 1e5, 1e8}) {
    const Index c = 6;
    Penalised problem(150, c, most, 6);
    const Matrix dense = problem.dense();
    DavidsonOptions options = patient(c - 1);
    // Rounding of M v is ulp * most; the solver measures residuals against the values it finds, about 100 here.
    options.tolerance = std::max(1e-12, 1e-16 * most);
    const RitzPairs found = largest_eigenpairs(problem.m, start_of(150, c - 1, 7), options);
    EXPECT_TRUE(found.converged) << most;
    EXPECT_LT(support::orthogonality_ratio(found.vectors), kThreshold) << most;
    EXPECT_LT(support::residual_ratio(dense, found.values, found.vectors, c - 1), kThreshold) << most;
    // The wanted values are far below ||M||: compare them at their own size.
    const std::vector<double> wanted = symmetric_eigen(dense).values;
    for (std::size_t k = 0; k < 5; ++k) {
      EXPECT_NEAR(found.values[k], wanted[k], std::max(1e-9 * wanted[0], 10 * support::kUlp * most))
          << most << " " << k;
    }
  }
}

TEST(LargestEigenpairs, ResidualsAreThoseOfTheResult) {
  const Matrix a = support::with_spectrum({5, 4, 3, 2, 1, 0.5, 0.25, 0.1, 0, -1, -2, -3}, 8);
  DavidsonOptions options;
  options.count = 2;
  options.steps = 2;
  options.tolerance = 0;
  const RitzPairs found = largest_eigenpairs(operator_of(a), start_of(12, 2, 9), options);
  EXPECT_FALSE(found.converged);
  EXPECT_EQ(found.steps, 2);
  const auto av = support::times(support::widened(a), support::widened(found.vectors));
  for (Index k = 0; k < 2; ++k) {
    const auto at = static_cast<std::size_t>(k);
    long double sum = 0, rayleigh = 0;
    for (Index i = 0; i < 12; ++i) {
      sum += std::pow(av(i, k) - static_cast<long double>(found.values[at]) * found.vectors(i, k), 2.0L);
      rayleigh += av(i, k) * found.vectors(i, k);
    }
    EXPECT_NEAR(found.residuals[at], static_cast<double>(std::sqrt(sum)), 1e-12);
    EXPECT_NEAR(found.values[at], static_cast<double>(rayleigh), 1e-13);
  }
}

// Cauchy: the start is inside the basis, so however few steps are taken the sum of Ritz values never falls.
TEST(LargestEigenpairs, SumOfRitzValuesNeverFalls) {
  std::vector<support::Kind> all = support::kinds(40);
  for (const double most : {10.0, 1e8}) all.push_back({"penalised", Penalised(40, 5, most, 10).dense()});
  for (const auto& [name, a] : all) {
    for (const Index basis : {0, 6, 20}) {
      const RitzPairs start = start_of(40, 3, 11);
      double before = 0;
      const Matrix h = product_transposed_left(start.vectors, product(a, start.vectors));
      for (Index k = 0; k < 3; ++k) before += h(k, k);
      const double slack = 100 * support::kUlp * support::one_norm(a);
      for (const Index steps : {0, 1, 2, 3, 4, 5, 8, 13}) {
        DavidsonOptions options;
        options.count = 3;
        options.steps = steps;
        options.basis = basis;
        options.tolerance = 1e-15;
        const RitzPairs found = largest_eigenpairs(operator_of(a), start, options);
        EXPECT_LE(found.steps, steps);
        const double sum = std::accumulate(found.values.begin(), found.values.end(), 0.0);
        EXPECT_GE(sum, before - slack) << name << " " << steps << " " << basis;
        EXPECT_LT(support::orthogonality_ratio(found.vectors), kThreshold) << name << " " << steps;
        before = std::max(before, sum);
      }
    }
  }
}

TEST(LargestEigenpairs, WarmStartsContinue) {
  const Matrix a = support::with_spectrum({9, 8, 7, 6, 5, 4, 3, 2, 1, 0.5, 0.4, 0.3, 0.2, 0.1, 0, 0}, 12);
  RitzPairs w = start_of(16, 3, 13);
  double before = -1e300;
  DavidsonOptions options;
  options.count = 3;
  options.steps = 1;
  options.tolerance = 1e-14;
  for (int round = 0; round < 60; ++round) {
    w = largest_eigenpairs(operator_of(a), std::move(w), options);
    const double sum = std::accumulate(w.values.begin(), w.values.end(), 0.0);
    EXPECT_GE(sum, before - 1e-13);
    before = sum;
  }
  EXPECT_NEAR(before, 24, 1e-12);
}

TEST(LargestEigenpairs, ImagesBelongToTheVectors) {
  const Index n = 30;
  const Matrix s = support::with_spectrum(
      std::vector<double>{9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1},
      14);
  SymmetricOperator m;
  m.dim = n;
  int images = 0;
  m.image = [&](const Matrix& v) {
    ++images;
    return product(s, v);
  };
  m.apply = [&](const Matrix& v, const Matrix& image) {
    Matrix out = image;
    for (Index i = 0; i < n; ++i) {
      for (Index k = 0; k < v.cols(); ++k) out(i, k) -= 0.1 * static_cast<double>(i) * v(i, k);
    }
    return out;
  };
  DavidsonOptions options = patient(4);
  options.steps = 30;
  RitzPairs found = largest_eigenpairs(m, start_of(n, 4, 15), options);
  EXPECT_LT(support::largest_difference(found.image, product(s, found.vectors)), 1e-12);
  // With the image at hand no product with the expensive part is needed to see that nothing is left to do.
  options.tolerance = 1e-6;
  images = 0;
  found = largest_eigenpairs(m, std::move(found), options);
  EXPECT_TRUE(found.converged);
  EXPECT_EQ(images, 0);
  Matrix dense = s;
  for (Index i = 0; i < n; ++i) dense(i, i) -= 0.1 * static_cast<double>(i);
  expect_eigenpairs("with image", dense, found, 4, 1e12);
}

// The basis is full and is cut back to the Ritz vectors, and then the residuals give no new direction.
TEST(LargestEigenpairs, NothingLeftToAddAfterARestart) {
  const Matrix a = support::with_spectrum({9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, 18);
  for (const int last : {0, 1, 2, 3}) {
    SymmetricOperator m = operator_of(a);
    int calls = 0;
    m.precondition = [&](const std::vector<double>&, Matrix& r) {
      if (calls++ >= last) r = Matrix(r.rows(), r.cols());
    };
    DavidsonOptions options = patient(2);
    options.basis = 4;
    const RitzPairs found = largest_eigenpairs(m, start_of(10, 2, 19), options);
    EXPECT_EQ(found.steps, last);
    ASSERT_EQ(found.vectors.cols(), 2);
    EXPECT_LT(support::orthogonality_ratio(found.vectors), kThreshold) << last;
    const Matrix h = product_transposed_left(found.vectors, product(a, found.vectors));
    for (Index k = 0; k < 2; ++k) EXPECT_NEAR(h(k, k), found.values[static_cast<std::size_t>(k)], 1e-12) << last;
  }
}

TEST(LargestEigenpairs, StopsWhenTheGainIsSmall) {
  const Matrix a = support::with_spectrum(
      [] {
        std::vector<double> values;
        for (int k = 0; k < 100; ++k) values.push_back(1.0 / (1 + k));
        return values;
      }(),
      16);
  DavidsonOptions options = patient(3);
  const Index all = largest_eigenpairs(operator_of(a), start_of(100, 3, 17), options).steps;
  options.gain = 0.5;
  const RitzPairs early = largest_eigenpairs(operator_of(a), start_of(100, 3, 17), options);
  EXPECT_LT(early.steps, all);
  EXPECT_GE(early.steps, 2);
  EXPECT_LT(support::orthogonality_ratio(early.vectors), kThreshold);
}

}  // namespace
}  // namespace tamis
