#include "tamis/linalg/anderson.h"

#include <algorithm>
#include <cmath>

#include "tamis/linalg/cholesky.h"

namespace tamis {

namespace {

constexpr double kRidge = 1e-10;  // of the trace: moves that are nearly dependent say nothing new
constexpr double kWorse = 2;      // a move so many times the shortest one means that the steps went astray

// In lanes, so that it is vectorized, in an order of its own.
double dot_of_floats(const std::vector<float>& a, const std::vector<float>& b) {
  constexpr std::size_t kLanes = 16;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (std::size_t k = 0; k < kLanes; ++k) lanes[k] += static_cast<double>(a[i + k]) * static_cast<double>(b[i + k]);
  }
  double sum = 0;
  for (; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

Anderson::Anderson(Index size, Index memory)
    : memory_(memory),
      move_(size),
      last_move_(size),
      correction_(size),
      moves_(memory, std::vector<float>(size)),
      images_(memory, std::vector<float>(size)),
      products_(memory, memory) {}

void Anderson::forget() {
  held_ = next_ = 0;
  first_ = true;
}

bool Anderson::has_grown() {
  const double length = std::sqrt(dot_of_floats(move_, move_));
  const bool grown = !first_ && !(length <= kWorse * least_);
  least_ = first_ || grown ? length : std::min(least_, length);
  return grown;
}

// s has changed by the last move and its correction, so F(s) by this move and that correction.
void Anderson::remember() {
  std::vector<float>&moved = moves_[next_], &image = images_[next_];
  for (std::size_t i = 0; i < move_.size(); ++i) {
    moved[i] = move_[i] - last_move_[i];
    image[i] = move_[i] + correction_[i];
  }
  held_ = std::min(held_ + 1, memory_);
  for (Index k = 0; k < held_; ++k) products_(next_, k) = products_(k, next_) = dot_of_floats(moved, moves_[k]);
  next_ = (next_ + 1) % memory_;
}

// The combination of changes that comes closest to the move.
std::vector<double> Anderson::coefficients() const {
  Matrix system(held_, held_), right(held_, 1);
  double trace = 0;
  for (Index k = 0; k < held_; ++k) trace += products_(k, k);
  if (!(trace > 0)) return {};
  for (Index k = 0; k < held_; ++k) {
    for (Index l = 0; l < held_; ++l) system(k, l) = products_(k, l) / trace;
    system(k, k) += kRidge;
    right(k, 0) = dot_of_floats(moves_[k], move_) / trace;
  }
  const Matrix solution = Cholesky(std::move(system)).solve(std::move(right));
  return {solution.data(), solution.data() + held_};
}

const std::vector<float>& Anderson::correction() {
  const bool grown = has_grown();
  if (grown) forget();
  if (!first_) remember();
  std::fill(correction_.begin(), correction_.end(), 0.0F);
  if (held_ > 0) {
    const std::vector<double> by = coefficients();
    for (std::size_t k = 0; k < by.size(); ++k) {
      const auto factor = static_cast<float>(by[k]);
      for (std::size_t i = 0; i < correction_.size(); ++i) correction_[i] -= factor * images_[k][i];
    }
  }
  last_move_.swap(move_);
  first_ = false;
  return correction_;
}

}  // namespace tamis
