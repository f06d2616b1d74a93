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
constexpr double kTurn = 2 * std::numbers::pi;

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

  // K', K'' and K''' of the cumulant generating function K(u) = -1/2 sum log(1 - 2 u m_i).
  struct Slopes {
    double first, second, third;
  };
  Slopes slopes(double u) const {
    double first[4] = {}, second[4] = {}, third[4] = {};
    const std::size_t whole = m_.size() / 4 * 4;
    const auto add = [&](std::size_t lane, double count, double m) {
      const double term = m / (1 - 2 * u * m), square = count * term * term;
      first[lane] += count * term;
      second[lane] += square;
      third[lane] += square * term;
    };
    for (std::size_t i = 0; i < whole; i += 4) {
      for (std::size_t lane = 0; lane < 4; ++lane) add(lane, 1, m_[i + lane]);
    }
    for (std::size_t i = whole; i < m_.size(); ++i) add(i - whole, 1, m_[i]);
    if (zeros_ > 0) add(3, static_cast<double>(zeros_), -s_);
    const auto sum = [](const double* lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); };
    return {sum(first), 2 * sum(second), 8 * sum(third)};
  }

  // log E exp(z Q) = -1/2 sum log(1 - 2 z m_i) for z above the real axis. Logarithms are dear: factors are multiplied.
  // Those of positive m all turn one way and by less than a half turn, so that a product goes from below the real axis
  // to above only where it passes its negative part; those of negative m turn the other way.
  std::complex<double> log_moment(std::complex<double> z) const {
    Product down, up;
    for (const double m : m_) {
      Product& product = m > 0 ? down : up;
      product.multiply(1 - 2 * z.real() * m, -2 * z.imag() * m);
      product.turns += (product.before < 0) != (product.imaginary < 0) && (product.before < 0) == (m > 0) ? 1 : 0;
    }
    const double real = 1 + 2 * z.real() * s_, imaginary = 2 * z.imag() * s_, count = static_cast<double>(zeros_);
    double size = down.log_size() + up.log_size();
    double angle = down.angle() - kTurn * down.turns + up.angle() + kTurn * up.turns;
    if (zeros_ > 0) {
      size += count * elementary::log(real * real + imaginary * imaginary);
      angle += count * elementary::atan2(imaginary, real);
    }
    return {-size / 4, -angle / 2};
  }

  // The root of K', which rises on (1 / (2 least), 1 / (2 most)): Newton, held within a shrinking bracket.
  double saddlepoint() const {
    double low = 1 / (2 * low_), high = 1 / (2 * high_), u = 0;
    for (int round = 0; round < 200; ++round) {
      const Slopes here = slopes(u);
      (here.first > 0 ? high : low) = u;
      const double next = u - here.first / here.second;
      const double step = next > low && next < high ? next : (low + high) / 2;
      if (std::abs(step - u) <= 1e-14 * std::abs(u) || step == u) break;
      u = step;
    }
    return u;
  }

 private:
  // A product of complex numbers, brought near 1 now and then.
  struct Product {
    double real = 1, imaginary = 0, before = 0, size = 0;  // size: what was taken off, as log |.|^2
    int turns = 0, count = 0;

    void multiply(double a, double b) {
      before = imaginary;
      const double next = real * a - imaginary * b;
      imaginary = real * b + imaginary * a;
      real = next;
      if (++count % 8 == 0) shrink();
    }
    void shrink() {
      const double square = real * real + imaginary * imaginary;
      if (square > 1e-60 && square < 1e60) return;
      size += elementary::log(square);
      const double by = 1 / std::sqrt(square);
      real *= by, imaginary *= by;
    }
    double log_size() const { return size + elementary::log(real * real + imaginary * imaginary); }
    double angle() const { return elementary::atan2(imaginary, real); }
  };

  std::vector<double> m_;
  Index zeros_;
  double s_, low_, high_;
};

std::vector<Index> positions_of(const std::vector<char>& mask, char value) {
  std::vector<Index> out;
  for (std::size_t j = 0; j < mask.size(); ++j) {
    if (mask[j] == value) out.push_back(static_cast<Index>(j));
  }
  return out;
}

}  // namespace

// P(Q > 0) = 1/(2 pi i) int exp(K(z)) / z dz along a path from below to above that crosses the real axis at x > 0 (less
// 1 where x < 0). Through the saddlepoint, and bent as the path of steepest descent is there, z = x + iy + bend y^2,
// the integrand falls like a normal density and does not turn, so that a few points of the trapezoid rule give all
// digits, however small the probability (Rice 1980; Helstrom 1996).
double quadratic_ratio_tail(const std::vector<double>& values, Index count, double s) {
  const QuadraticForm q(values, count, s);
  if (q.most() <= 0) return 0;
  if (q.least() >= 0) return 1;
  const double u = q.saddlepoint(), width = 1 / std::sqrt(q.slopes(u).second);
  const double branch = u >= 0 ? 1 / (2 * q.most()) : 1 / (2 * q.least());
  // The path stays clear of the pole at 0.
  const double x = std::copysign(std::max(std::abs(u), std::min(width / 2, std::abs(branch) / 2)), branch);
  const auto slopes = q.slopes(x);
  const double bend = slopes.third / (6 * slopes.second);
  // Where the pole is as y sees it.
  const double pole = 2 * std::abs(x) / (1 + std::sqrt(1 + 4 * std::abs(bend * x)));
  const double step = std::min({width / 2.5, pole / 3, std::abs(branch - x) / 3});
  double sum = 0;
  for (int j = 0; j < 4000; ++j) {
    const double y = j * step;
    const std::complex<double> z(x + bend * y * y, y), k = q.log_moment(z);
    // exp(k) / z dz/dy = exp(k) (i + 2 bend y) conj(z) / |z|^2
    const double square = z.real() * z.real() + z.imag() * z.imag();
    const double real = (2 * bend * y * z.real() + z.imag()) / square;
    const double imaginary = (z.real() - 2 * bend * y * z.imag()) / square;
    const double size = elementary::exp(k.real());
    sum += (j == 0 ? 0.5 : 1.0) * size * (imaginary * elementary::cos(k.imag()) + real * elementary::sin(k.imag()));
    if (size * (std::abs(real) + std::abs(imaginary)) <= 1e-9 * std::abs(sum)) break;
  }
  const double integral = sum * step / std::numbers::pi;
  return std::clamp(x > 0 ? integral : 1 + integral, 0.0, 1.0);
}

// Copies share a fingerprint, and so a half.
std::vector<char> column_halves(const Source& source, Context& context) {
  std::vector<std::uint64_t> mixed = column_fingerprints(source, Fingerprint::digits, context);
  const std::uint64_t key = Random(context.seed, kHalvesStream).bits(0);
  for (auto& value : mixed) value = mix64(value ^ key);
  std::vector<std::uint64_t> distinct = mixed;
  std::sort(distinct.begin(), distinct.end());
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  const std::uint64_t middle = distinct[distinct.size() / 2];
  std::vector<char> half;
  for (const auto value : mixed) half.push_back(value < middle ? 0 : 1);
  return distinct.size() > 1 ? half : std::vector<char>();
}

std::vector<double> column_evidence(const Source& source, const std::vector<char>& half,
                                    std::span<const GuideGraphs> graphs, const GuideOptions& options,
                                    Context& context) {
  std::vector<double> out(source.cols(), 1.0);
  if (half.empty()) return out;
  for (const char own : {char{0}, char{1}}) {
    const std::vector<Index> judged = positions_of(half, own);
    const Stage stage(context, concat("evidence, half ", own + 1, " of 2"));
    const Guide guide = make_guide(graphs[own == 0 ? 1 : 0], options, context);
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
