#include "tamis/linalg/anderson.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tamis/linalg/dense.h"
#include "tests/support/spectra.h"

namespace tamis {
namespace {

// F(s) = A s + b with ||A|| < 1, whose fixed point is (I - A)^-1 b.
struct Affine {
  Matrix a, b;
  Matrix operator()(const Matrix& s) const {
    Matrix out = product(a, s);
    for (Index i = 0; i < out.size(); ++i) out.data()[i] += b.data()[i];
    return out;
  }
};

Affine contraction(Index n, double norm, std::uint64_t seed) {
  Affine f{support::random_matrix(n, n, seed), support::random_matrix(n, 1, seed + 1)};
  const double factor = norm / std::sqrt(squared_norm(f.a));
  for (Index i = 0; i < f.a.size(); ++i) f.a.data()[i] *= factor;
  return f;
}

// ||F(s) - s|| after so many steps from 0.
double move_after(int steps, const Affine& f, Anderson* ahead) {
  Matrix s(f.b.rows(), 1);
  for (int t = 0;; ++t) {
    const Matrix image = f(s);
    Matrix move = image;
    for (Index i = 0; i < s.size(); ++i) move.data()[i] -= s.data()[i];
    if (t == steps) return std::sqrt(squared_norm(move));
    s = image;
    if (ahead == nullptr) continue;
    for (Index i = 0; i < s.size(); ++i) ahead->move()[i] = static_cast<float>(move.data()[i]);
    const std::vector<float>& correction = ahead->correction();
    for (Index i = 0; i < s.size(); ++i) s.data()[i] += static_cast<double>(correction[i]);
  }
}

// With as many steps remembered as there are numbers, an affine F is solved after as many steps, as by GMRES.
TEST(Anderson, SolvesAffineMapsInAsManySteps) {
  for (const Index n : {1, 2, 5}) {
    const Affine f = contraction(n, 0.95, 3);
    Anderson ahead(n, n);
    const double start = std::sqrt(squared_norm(f.b));
    EXPECT_LT(move_after(static_cast<int>(n) + 2, f, &ahead), 1e-4 * start) << n;
    EXPECT_GT(move_after(static_cast<int>(n) + 2, f, nullptr), 1e-4 * start) << n;
  }
}

// Differences in float do not limit what is reached.
TEST(Anderson, ReachesDoublePrecision) {
  const Affine f = contraction(40, 0.999, 5);
  Anderson ahead(40, 5);
  EXPECT_LT(move_after(300, f, &ahead), 1e-14 * std::sqrt(squared_norm(f.b)));
}

TEST(Anderson, TheFirstStepIsPlain) {
  Anderson ahead(3, 2);
  for (int run = 0; run < 2; ++run) {
    ahead.move() = {1, -2, 3};
    for (const float number : ahead.correction()) EXPECT_EQ(number, 0);
    ahead.move() = {0.5F, -1, 2};
    float largest = 0;
    for (const float number : ahead.correction()) largest = std::max(largest, std::abs(number));
    EXPECT_GT(largest, 0);
    ahead.forget();
  }
}

// Worse moves, and numbers that are none, start anew instead of steering.
TEST(Anderson, GoesBackToPlainSteps) {
  for (const float far : {50.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Anderson ahead(2, 2);
    ahead.move() = {1, 1};
    ahead.correction();
    ahead.move() = {far, 1};
    for (const float number : ahead.correction()) EXPECT_EQ(number, 0) << far;
  }
}

}  // namespace
}  // namespace tamis
