// Reductions and polynomials of FDLIBM (Sun Microsystems, 1993).
#include "tamis/base/elementary.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "tamis/base/cpu.h"

namespace tamis::elementary {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLogTwoHigh = 6.93147180369123816490e-01, kLogTwoLow = 1.90821492927058770002e-10;

// c[0] + t c[1] + t^2 c[2] + ...
template <std::size_t n>
double polynomial(const std::array<double, n>& c, double t) {
  double sum = 0;
  for (std::size_t k = n; k-- > 0;) sum = c[k] + t * sum;
  return sum;
}

// x = quadrant pi/2 + rest, |rest| <= pi/4: pi/2 in three parts, whose multiples up to 2^20 are exact.
struct Angle {
  int quadrant;
  double rest;
};

Angle reduced(double x) {
  constexpr double kFirst = 1.57079632673412561417e+00, kSecond = 6.07710050630396597660e-11,
                   kThird = 2.02226624879595063154e-21;
  if (std::abs(x) > 1e6) x = std::fmod(x, 2 * std::numbers::pi);
  const double turns = std::floor(x / (std::numbers::pi / 2) + 0.5);
  const double rest = ((x - turns * kFirst) - turns * kSecond) - turns * kThird;
  return {static_cast<int>(static_cast<long long>(turns) & 3), rest};
}

// On |x| <= pi/4.
double sin_near_zero(double x) {
  constexpr std::array c = {-1.66666666666666324348e-01, 8.33333333332248946124e-03,  -1.98412698298579493134e-04,
                            2.75573137070700676789e-06,  -2.50507602534068634195e-08, 1.58969099521155010221e-10};
  const double square = x * x;
  return x + x * square * polynomial(c, square);
}

double cos_near_zero(double x) {
  constexpr std::array c = {4.16666666666666019037e-02,  -1.38888888888741095749e-03, 2.48015872894767294178e-05,
                            -2.75573143513906633035e-07, 2.08757232129817482790e-09,  -1.13596475577881948265e-11};
  const double square = x * x, half = 0.5 * square, about = 1 - half;
  return about + (((1 - about) - half) + square * square * polynomial(c, square));
}

// sin(angle + shift pi/2)
double sin_of(const Angle& angle, int shift) {
  const int quadrant = (angle.quadrant + shift) & 3;
  const double value = quadrant % 2 == 0 ? sin_near_zero(angle.rest) : cos_near_zero(angle.rest);
  return quadrant < 2 ? value : -value;
}

// atan of x >= 0.
double atan_of(double x) {
  constexpr std::array c = {3.33333333333329318027e-01,  -1.99999999998764832476e-01, 1.42857142725034663711e-01,
                            -1.11111104054623557880e-01, 9.09088713343650656196e-02,  -7.69187620504482999495e-02,
                            6.66107313738753120669e-02,  -5.83357013379057348645e-02, 4.97687799461593236017e-02,
                            -3.65315727442169155270e-02, 1.62858201153657823623e-02};
  // atan of 1/2, 1, 3/2 and infinity: what is added to the atan of the reduced argument, in two parts.
  constexpr std::array high = {0.0, 4.63647609000806093515e-01, 7.85398163397448278999e-01, 9.82793723247329054082e-01,
                               1.57079632679489655800e+00};
  constexpr std::array low = {0.0, 2.26987774529616870924e-17, 3.06161699786838301793e-17, 1.39033110312309984516e-17,
                              6.12323399573676603587e-17};
  std::size_t k = 0;
  if (x >= 2.4375) {
    k = 4, x = -1 / x;
  } else if (x >= 1.1875) {
    k = 3, x = (x - 1.5) / (1 + 1.5 * x);
  } else if (x >= 0.6875) {
    k = 2, x = (x - 1) / (x + 1);
  } else if (x >= 0.4375) {
    k = 1, x = (2 * x - 1) / (2 + x);
  }
  const double square = x * x;
  return high[k] - ((x * square * polynomial(c, square) - low[k]) - x);
}

}  // namespace

namespace portable {

double exp(double x) {
  constexpr std::array c = {1.66666666666666019037e-01, -2.77777777770155933842e-03, 6.61375632143793436117e-05,
                            -1.65339022054652515390e-06, 4.13813679705723846039e-08};
  if (std::isnan(x)) return x;
  if (x > 710) return kInfinity;
  if (x < -746) return 0;
  const double k = std::floor(x / std::numbers::ln2 + 0.5), high = x - k * kLogTwoHigh, low = k * kLogTwoLow;
  const double rest = high - low, square = rest * rest, part = rest - square * polynomial(c, square);
  const double value = 1 - ((low - rest * part / (2 - part)) - high);
  return std::ldexp(value, static_cast<int>(k));
}

double log(double x) {
  constexpr std::array c = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                            2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                            1.479819860511658591e-01};
  if (std::isnan(x) || x < 0) return std::numeric_limits<double>::quiet_NaN();
  if (x == 0) return -kInfinity;
  if (x == kInfinity) return x;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < std::numbers::sqrt2 / 2) m *= 2, --exponent;
  const double f = m - 1, half = 0.5 * f * f, s = f / (2 + f), square = s * s, k = exponent;
  return s * (half + square * polynomial(c, square)) + k * kLogTwoLow - half + f + k * kLogTwoHigh;
}

double pow(double x, double y) {
  if (y == 0) return 1;
  if (y == 1) return x;
  if (std::abs(y) == 0.5) return y > 0 ? std::sqrt(x) : 1 / std::sqrt(x);
  if (x == 0) return y > 0 ? 0 : kInfinity;
  return exp(y * log(x));
}

double sin(double x) { return sin_of(reduced(x), 0); }
double cos(double x) { return sin_of(reduced(x), 1); }

double atan2(double y, double x) {
  if (x == 0 && y == 0) return std::signbit(x) ? std::copysign(std::numbers::pi, y) : y;
  const double angle = atan_of(std::abs(y) / std::abs(x));
  return std::copysign(std::signbit(x) ? std::numbers::pi - angle : angle, y);
}

double hypot(double x, double y) {
  const double largest = std::fmax(std::abs(x), std::abs(y));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  const int exponent = std::ilogb(largest);
  x = std::ldexp(x, -exponent), y = std::ldexp(y, -exponent);
  return std::ldexp(std::sqrt(x * x + y * y), exponent);
}

}  // namespace portable

double exp(double x) { return cpu_is_baseline() ? portable::exp(x) : std::exp(x); }
double log(double x) { return cpu_is_baseline() ? portable::log(x) : std::log(x); }
double pow(double x, double y) { return cpu_is_baseline() ? portable::pow(x, y) : std::pow(x, y); }
double sin(double x) { return cpu_is_baseline() ? portable::sin(x) : std::sin(x); }
double cos(double x) { return cpu_is_baseline() ? portable::cos(x) : std::cos(x); }
double atan2(double y, double x) { return cpu_is_baseline() ? portable::atan2(y, x) : std::atan2(y, x); }
double hypot(double x, double y) { return cpu_is_baseline() ? portable::hypot(x, y) : std::hypot(x, y); }

}  // namespace tamis::elementary
