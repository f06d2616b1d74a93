#include "tamis/select/guided/evidence.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "tamis/base/elementary.h"
#include "tamis/base/random.h"
#include "tamis/data/passes/passes.h"

namespace tamis {

namespace {

constexpr std::uint64_t kHalvesStream = 0x68616c76;
constexpr double kQuarterTurn = std::numbers::pi / 2, kHalfTurn = 3.1;

double angle_of(std::complex<double> z) { return elementary::atan2(z.imag(), z.real()); }

std::complex<double> exponential(std::complex<double> z) {
  const double size = elementary::exp(z.real());
  return {size * elementary::cos(z.imag()), size * elementary::sin(z.imag())};
}

// Q = sum m_i z_i^2 with m = v - s: Q > 0 where the share is above s. The zeros among the v are one term.
class QuadraticForm {
 public:
  QuadraticForm(const std::vector<double>& values, Index count, double s)
      : zeros_(count - static_cast<Index>(values.size())), s_(s) {
    m_.reserve(values.size());
    for (const double v : values) m_.push_back(v - s);
    const auto [low, high] = std::minmax_element(m_.begin(), m_.end());
    low_ = m_.empty() || (zeros_ > 0 && -s < *low) ? -s : *low;
    high_ = m_.empty() || (zeros_ > 0 && -s > *high) ? -s : *high;
  }
  double least() const { return low_; }
  double most() const { return high_; }

  // Of the cumulant generating function K(u) = -1/2 sum log(1 - 2 u m_i): sum of f(m) over all terms.
  template <class Function>
  double sum(Function f) const {
    double out = zeros_ > 0 ? static_cast<double>(zeros_) * f(-s_) : 0.0;
    for (const double m : m_) out += f(m);
    return out;
  }
  double slope(double u) const {  // K'(u)
    return sum([u](double m) { return m / (1 - 2 * u * m); });
  }
  double curvature(double u) const {  // K''(u)
    return 2 * sum([u](double m) { return m / (1 - 2 * u * m) * (m / (1 - 2 * u * m)); });
  }

  // log E exp(z Q) for complex z, whose factors 1 - 2 z m_i all have a positive real part. Logarithms are dear: factors
  // are multiplied as long as the angle of their product stays within a half turn.
  std::complex<double> log_moment(std::complex<double> z) const {
    double size = 0, angle = 0, turned = 0;
    std::complex<double> product = 1;
    const auto flush = [&] {
      size += elementary::log(std::norm(product));
      angle += angle_of(product);
      product = 1;
      turned = 0;
    };
    for (const double m : m_) {
      const std::complex<double> factor = 1.0 - 2.0 * z * m;
      const double most = std::min(std::abs(factor.imag() / factor.real()), kQuarterTurn);
      if (turned + most > kHalfTurn) flush();
      product *= factor;
      turned += most;
      if (const double square = std::norm(product); square > 1e100 || square < 1e-100) flush();
    }
    flush();
    const std::complex<double> zero = 1.0 + 2.0 * z * s_;
    size += static_cast<double>(zeros_) * elementary::log(std::norm(zero));
    angle += static_cast<double>(zeros_) * angle_of(zero);
    return {-size / 4, -angle / 2};
  }

  // The root of K', which rises on (1 / (2 least), 1 / (2 most)): Newton, held within a shrinking bracket.
  double saddlepoint() const {
    double low = 1 / (2 * low_), high = 1 / (2 * high_), u = 0;
    for (int round = 0; round < 200; ++round) {
      const double slope_here = slope(u);
      (slope_here > 0 ? high : low) = u;
      const double next = u - slope_here / curvature(u);
      const double step = next > low && next < high ? next : (low + high) / 2;
      if (std::abs(step - u) <= 1e-14 * std::abs(u) || step == u) break;
      u = step;
    }
    return u;
  }

 private:
  std::vector<double> m_;
  Index zeros_;
  double s_, low_, high_;
};

// Two halves of the columns: copies share a fingerprint, and so a half.
std::vector<char> halves(const Source& source, Context& context) {
  std::vector<std::uint64_t> mixed = column_fingerprints(source, Fingerprint::digits, context);
  const std::uint64_t key = Random(context.seed, kHalvesStream).bits(0);
  for (auto& value : mixed) value = mix64(value ^ key);
  std::vector<std::uint64_t> distinct = mixed;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::uint64_t middle = distinct[distinct.size() / 2];
  std::vector<char> half;
  for (const auto value : mixed) half.push_back(value < middle ? 0 : 1);
  return half;
}

std::vector<Index> positions_of(const std::vector<char>& mask, char value) {
  std::vector<Index> out;
  for (std::size_t j = 0; j < mask.size(); ++j) {
    if (mask[j] == value) out.push_back(static_cast<Index>(j));
  }
  return out;
}

}  // namespace

// P(Q > 0) = 1/(2 pi i) int exp(K(z)) / z dz along a line Re z = const > 0 (less 1 where it is < 0). Through the
// saddlepoint the integrand falls like a normal density and does not turn, so that a few points of the trapezoid rule
// give all digits, however small the probability (Rice 1980; Helstrom 1996).
double quadratic_ratio_tail(const std::vector<double>& values, Index count, double s) {
  const QuadraticForm q(values, count, s);
  if (q.most() <= 0) return 0;
  if (q.least() >= 0) return 1;
  const double u = q.saddlepoint(), width = 1 / std::sqrt(q.curvature(u));
  const double branch = u >= 0 ? 1 / (2 * q.most()) : 1 / (2 * q.least());
  // The line stays clear of the pole at 0.
  const double line = std::copysign(std::max(std::abs(u), std::min(width / 2, std::abs(branch) / 2)), branch);
  const double step = std::min({width / 2.5, std::abs(line) / 3, std::abs(branch - line) / 3});
  double sum = 0;
  for (int j = 0; j < 4000; ++j) {
    const std::complex<double> z(line, j * step);
    const std::complex<double> term = exponential(q.log_moment(z)) / z;
    sum += (j == 0 ? 0.5 : 1.0) * term.real();
    if (elementary::hypot(term.real(), term.imag()) <= 1e-9 * std::abs(sum)) break;
  }
  const double integral = sum * step / std::numbers::pi;
  return std::clamp(line > 0 ? integral : 1 + integral, 0.0, 1.0);
}

std::vector<double> column_evidence(const Source& source, const GuideOptions& options, Context& context) {
  const std::vector<char> half = halves(source, context);
  std::vector<double> out(half.size(), 1.0);
  for (const char own : {char{0}, char{1}}) {
    const std::vector<Index> judged = positions_of(half, own), other = positions_of(half, own == 0 ? 1 : 0);
    if (judged.empty() || other.empty()) continue;
    const Stage stage(context, concat("evidence, half ", own + 1, " of 2"));
    const Guide guide = make_guide(source.with_columns(other), options, context);
    const std::vector<double> values = guide_eigenvalues(guide);
    const Source mine = source.with_columns(judged);
    const ColumnMoments moments = column_moments(mine, context);
    const std::vector<double> scatter = guided_scatter(guide, Centered(mine, moments), context);
    context.pool().run(static_cast<Index>(judged.size()), [&](Index i) {
      out[judged[i]] = quadratic_ratio_tail(values, guide.rows - 1, scatter[i] / moments.scatter[i]);
    });
  }
  return out;
}

std::vector<char> discoveries(const std::vector<double>& p, double rate) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return p[a] < p[b]; });
  std::size_t passed = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p[order[i]] <= rate * static_cast<double>(i + 1) / static_cast<double>(p.size())) passed = i + 1;
  }
  std::vector<char> out(p.size());
  for (std::size_t i = 0; i < passed; ++i) out[order[i]] = 1;
  return out;
}

}  // namespace tamis
