#include "tamis/select/ufcm/extrapolation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tamis/linalg/dense.h"
#include "tamis/linalg/orthogonal.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

constexpr Index kRows = 30, kColumns = 4;

struct Steps {
  Matrix s;  // positive definite
  RitzPairs before, now;
};

// Two orthonormal W that are `apart` from each other, with their images S W.
Steps two_steps(double apart, std::uint64_t seed) {
  Steps out;
  const Matrix a = support::random_matrix(kRows, kRows, seed);
  out.s = product_transposed_left(a, a);
  out.before.vectors = orthonormalized(support::random_matrix(kRows, kColumns, seed + 1));
  Matrix moved = product(out.before.vectors, orthonormalized(support::random_matrix(kColumns, kColumns, seed + 2)));
  const Matrix by = support::random_matrix(kRows, kColumns, seed + 3);
  for (Index i = 0; i < moved.size(); ++i) moved.data()[i] += apart * by.data()[i];
  out.now.vectors = orthonormalized(moved);
  out.before.image = product(out.s, out.before.vectors);
  out.now.image = product(out.s, out.now.vectors);
  return out;
}

void expect_orthonormal_with_image(const RitzPairs& w, const Matrix& s) {
  const Matrix gram = product_transposed_left(w.vectors, w.vectors), image = product(s, w.vectors);
  for (Index i = 0; i < gram.rows(); ++i) {
    for (Index j = 0; j < gram.cols(); ++j) EXPECT_NEAR(gram(i, j), i == j, 1e-12);
  }
  for (Index i = 0; i < image.size(); ++i) EXPECT_NEAR(w.image.data()[i], image.data()[i], 1e-9);
}

TEST(Extrapolation, GoesOnWhileTheObjectiveRises) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Steps steps = two_steps(0.05, seed);
    // Farther and farther from where it was: the sum of squared cosines falls.
    const auto away = [&](const RitzPairs& w) {
      return -squared_norm(product_transposed_left(steps.before.vectors, w.vectors));
    };
    const RitzPairs far = extrapolated(steps.before, steps.now, 0, away);
    expect_orthonormal_with_image(far, steps.s);
    EXPECT_GT(away(far), away(steps.now) + 0.1) << seed;
  }
}

TEST(Extrapolation, StaysWhereNothingIsGained) {
  const Steps steps = two_steps(0.05, 7);
  const auto near = [&](const RitzPairs& w) {
    return squared_norm(product_transposed_left(steps.before.vectors, w.vectors));
  };
  const RitzPairs same = extrapolated(steps.before, steps.now, 0, near);
  EXPECT_EQ(squared_norm(product_transposed_left(same.vectors, same.vectors)),
            squared_norm(product_transposed_left(steps.now.vectors, steps.now.vectors)));
  EXPECT_EQ(dot(same.vectors, same.image), dot(steps.now.vectors, steps.now.image));
}

TEST(Extrapolation, RoundingIsNoWay) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Steps steps = two_steps(0, seed);  // two bases of the same space
    const auto objective = [&](const RitzPairs& w) { return dot(w.vectors, w.image); };
    const RitzPairs same = extrapolated(steps.before, steps.now, 1e-9, objective);
    EXPECT_EQ(objective(same), objective(steps.now)) << seed;
  }
}

TEST(Extrapolation, FarJumpsAndOtherWidthsAreLeftAlone) {
  const auto never = [](const RitzPairs&) -> double {
    ADD_FAILURE() << "there is no way to go on";
    return 0;
  };
  const Steps far = two_steps(100, 5);
  extrapolated(far.before, far.now, 0, never);
  Steps narrower = two_steps(0.05, 5);
  narrower.now.vectors = first_columns(narrower.now.vectors, kColumns - 1);
  narrower.now.image = first_columns(narrower.now.image, kColumns - 1);
  extrapolated(narrower.before, narrower.now, 0, never);
}

}  // namespace
}  // namespace tamis
