#include "tamis/data/scale.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "tamis/base/error.h"

namespace tamis {

namespace {

constexpr std::array<const char*, 5> kScalings = {"none", "standard", "minmax", "unit", "auto"};

// Not the root of variance(j), whose square may leave the range of double where the deviation does not.
double deviation(const ColumnMoments& moments, Index j) {
  const double scatter = moments.scatter[j];
  return moments.unit * std::sqrt(scatter / moments.degrees());
}

// 1 / divisor where that is a number a column can be multiplied by, else 1.
double reciprocal(double divisor) {
  const double factor = 1.0 / divisor;
  return divisor > 0.0 && std::isfinite(factor) && factor > 0.0 ? factor : 1.0;
}

std::vector<double> column_factors(const ColumnMoments& moments, bool by_range) {
  std::vector<double> factors(moments.mean.size(), 1.0);
  for (std::size_t j = 0; j < factors.size(); ++j) {
    const auto column = static_cast<Index>(j);
    if (!moments.varies(column)) continue;
    factors[j] = reciprocal(by_range ? moments.max[j] - moments.min[j] : deviation(moments, column));
  }
  return factors;
}

std::vector<double> row_factors(const Source& source, Context& context) {
  auto factors = row_squared_norms(source, context);
  for (std::size_t i = 0; i < factors.size(); ++i) {
    require(std::isfinite(factors[i]), ErrorCode::bad_data, OptionName{"scale"}, " = unit: the norm of row ", i,
            " is out of range, need values below 1e150");
    factors[i] = reciprocal(std::sqrt(factors[i]));
  }
  return factors;
}

// Multiplies columns and says what becomes of their moments, in units of 1.
UnitDeviations multiplied(const Source& source, const ColumnMoments& moments, const std::vector<double>& factors) {
  UnitDeviations out{source.with_column_scale(factors), moments};
  out.moments.unit = 1;
  for (std::size_t j = 0; j < factors.size(); ++j) {
    for (auto* values : {&out.moments.mean, &out.moments.min, &out.moments.max}) (*values)[j] *= factors[j];
    const double deviation = factors[j] * moments.unit * std::sqrt(moments.scatter[j]);
    out.moments.scatter[j] = deviation * deviation;
  }
  return out;
}

// Powers of two that bring the ranges of all columns near 1; empty where they are near enough to each other.
std::vector<double> powers_to_one(const ColumnMoments& moments) {
  constexpr int kNear = 200, kMost = 1000;  // exponents whose squares, and whose powers, are well in range
  std::vector<double> factors(moments.mean.size(), 1.0);
  int least = 0, most = 0;
  bool any = false;
  for (std::size_t j = 0; j < factors.size(); ++j) {
    if (!moments.varies(static_cast<Index>(j))) continue;
    const int exponent = std::clamp(std::ilogb(0.5 * moments.max[j] - 0.5 * moments.min[j]), -kMost, kMost);
    least = any ? std::min(least, exponent) : exponent;
    most = any ? std::max(most, exponent) : exponent;
    any = true;
    factors[j] = std::ldexp(1.0, -exponent);
  }
  if (most - least <= kNear) factors.clear();
  return factors;
}

}  // namespace

UnitDeviations unit_deviations(const Source& source, const ColumnMoments& moments, Context& context) {
  const std::vector<double> powers = powers_to_one(moments);
  if (powers.empty()) return multiplied(source, moments, column_factors(moments, false));
  const Source near = source.with_column_scale(powers);
  const ColumnMoments again = column_moments(near, context);
  return multiplied(near, again, column_factors(again, false));
}

const char* name_of(Scaling scaling) { return kScalings[static_cast<std::size_t>(scaling)]; }

Scaling parse_scaling(const std::string& text) {
  const auto found = std::find(kScalings.begin(), kScalings.end(), text);
  require(found != kScalings.end(), ErrorCode::usage, OptionName{"scale"}, " = ", text,
          ", need none, standard, minmax, unit or auto");
  return static_cast<Scaling>(found - kScalings.begin());
}

Source scaled(const Source& source, Scaling scaling, const ColumnMoments& moments, Context& context) {
  switch (scaling) {
    case Scaling::none: break;
    case Scaling::automatic: fail(ErrorCode::internal, "scale = auto is not resolved");
    case Scaling::standard: return source.with_column_scale(column_factors(moments, false));
    case Scaling::minmax: return source.with_column_scale(column_factors(moments, true));
    case Scaling::unit: return source.with_row_scale(row_factors(source, context));
  }
  return source;
}

double deviation_spread(const ColumnMoments& moments) {
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (Index j = 0; j < static_cast<Index>(moments.mean.size()); ++j) {
    const double sd = moments.varies(j) ? deviation(moments, j) : 0.0;
    if (sd > 0.0) least = std::min(least, sd), most = std::max(most, sd);
  }
  return most > 0.0 ? most / least : 1.0;
}

Index count_constant(const ColumnMoments& moments) {
  Index count = 0;
  for (Index j = 0; j < static_cast<Index>(moments.mean.size()); ++j) count += moments.varies(j) ? 0 : 1;
  return count;
}

}  // namespace tamis
