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

  struct Slope {
    double first, second;
  };
  // K' and K'' of the cumulant generating function K(u) = -1/2 sum log(1 - 2 u m_i).
  Slope slope(double u) const {
    double first[4] = {}, second[4] = {};
    const std::size_t whole = m_.size() / 4 * 4;
    for (std::size_t i = 0; i < whole; i += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) {
        const double term = m_[i + lane] / (1 - 2 * u * m_[i + lane]);
        first[lane] += term;
        second[lane] += term * term;
      }
    }
    const double zero = zeros_ > 0 ? -s_ / (1 + 2 * u * s_) : 0.0, count = static_cast<double>(zeros_);
    Slope out{count * zero, count * zero * zero};
    for (std::size_t i = whole; i < m_.size(); ++i) {
      const double term = m_[i] / (1 - 2 * u * m_[i]);
      out.first += term;
      out.second += term * term;
    }
    for (std::size_t lane = 0; lane < 4; ++lane) {
      out.first += first[lane];
      out.second += second[lane];
    }
    out.second *= 2;
    return out;
  }

  // The root of K', which rises on (1 / (2 least), 1 / (2 most)): Newton, held within a shrinking bracket.
  double saddlepoint() const {
    double low = 1 / (2 * low_), high = 1 / (2 * high_), u = 0;
    for (int round = 0; round < 200; ++round) {
      const Slope here = slope(u);
      (here.first > 0 ? high : low) = u;
      const double next = u - here.first / here.second;
      const double step = next > low && next < high ? next : (low + high) / 2;
      if (std::abs(step - u) <= 1e-14 * std::abs(u) || step == u) break;
      u = step;
    }
    return u;
  }

 private:
  friend class LogMoment;
  std::vector<double> m_;
  Index zeros_;
  double s_, low_, high_;
};

// log E exp(z Q) = -1/2 sum log(1 - 2 z m_i) on the line z = x + iy, where all 1 - 2 x m_i are positive:
// 1 - 2 z m_i = (1 - 2 x m_i) (1 + i y r_i).
class LogMoment {
 public:
  LogMoment(const QuadraticForm& q, double x) : zeros_(static_cast<double>(q.zeros_)) {
    r_.reserve(q.m_.size());
    double product = 1;
    for (const double m : q.m_) {
      const double factor = 1 - 2 * x * m;
      r_.push_back(-2 * m / factor);
      product *= factor;
      if (!(product > 1e-100 && product < 1e100)) flush(product);
    }
    flush(product);
    if (q.zeros_ == 0) return;
    const double zero = 1 + 2 * x * q.s_;
    real_ += zeros_ * elementary::log(zero);
    zero_ = 2 * q.s_ / zero;
  }

  // Logarithms are dear: factors are multiplied as long as the angle of their product stays within a half turn.
  std::complex<double> operator()(double y) const {
    double size = 0, angle = 0, turned = 0, real = 1, imaginary = 0;
    const auto flush = [&] {
      size += elementary::log(real * real + imaginary * imaginary);
      angle += elementary::atan2(imaginary, real);
      real = 1, imaginary = 0, turned = 0;
    };
    for (const double r : r_) {
      const double t = y * r, most = std::min(std::abs(t), kQuarterTurn);
      if (turned + most > kHalfTurn) flush();
      const double turned_real = real - imaginary * t;
      imaginary += real * t;
      real = turned_real;
      turned += most;
    }
    flush();
    const double t = y * zero_;
    size += zeros_ * elementary::log(1 + t * t);
    angle += zeros_ * elementary::atan2(t, 1.0);
    return {-real_ / 2 - size / 4, -angle / 2};
  }

 private:
  void flush(double& product) {
    real_ += elementary::log(product);
    product = 1;
  }

  std::vector<double> r_;
  double zeros_, real_ = 0, zero_ = 0;
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
  const double u = q.saddlepoint(), width = 1 / std::sqrt(q.slope(u).second);
  const double branch = u >= 0 ? 1 / (2 * q.most()) : 1 / (2 * q.least());
  // The line stays clear of the pole at 0.
  const double line = std::copysign(std::max(std::abs(u), std::min(width / 2, std::abs(branch) / 2)), branch);
  const double step = std::min({width / 2.5, std::abs(line) / 3, std::abs(branch - line) / 3});
  const LogMoment log_moment(q, line);
  double sum = 0;
  for (int j = 0; j < 4000; ++j) {
    const std::complex<double> z(line, j * step);
    const std::complex<double> term = exponential(log_moment(j * step)) / z;
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
