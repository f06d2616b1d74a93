#include "tamis/base/random.h"

#include <cmath>
#include <numbers>

#include "tamis/base/elementary.h"

namespace tamis {

double Random::normal(std::uint64_t counter) const {
  // Box-Muller on two numbers of the same stream; 1 - u lies in (0, 1].
  const double u = 1.0 - uniform(2 * counter);
  const double v = uniform(2 * counter + 1);
  return std::sqrt(-2.0 * elementary::log(u)) * elementary::cos(2.0 * std::numbers::pi * v);
}

}  // namespace tamis
