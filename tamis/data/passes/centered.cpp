// class Centered of passes.h.

#include <algorithm>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/stores/sparse_rows.h"

namespace tamis {

std::vector<std::int32_t> column_positions(const Source& source) {
  std::vector<std::int32_t> position;
  if (!source.sparse() || source.all_columns()) return position;
  position.assign(source.store().cols(), -1);
  for (std::size_t j = 0; j < source.columns().size(); ++j) {
    position[source.columns()[j]] = static_cast<std::int32_t>(j);
  }
  return position;
}

namespace {

// Six bits of the products' accuracy at most go to a center that is not taken off first.
constexpr double kNear = 64;
// Columns in a run, on average, from which it is read in place.
constexpr Index kRunLength = 16;

bool centers_are_near(const ColumnMoments& moments) {
  for (std::size_t j = 0; j < moments.mean.size(); ++j) {
    const double spread = std::sqrt(moments.scatter[j] / moments.total());
    if (std::abs(moments.mean[j]) > kNear * spread) return false;
  }
  return true;
}

bool all_zero(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double value) { return value == 0; });
}

std::vector<double> roots_of(std::vector<double> weights) {
  for (double& weight : weights) weight = std::sqrt(weight);
  return weights;
}

// The multipliers of the columns, divided by `unit`; empty where all are 1.
std::vector<double> scale_in(const Source& source, double unit) {
  std::vector<double> scale = source.column_scale();
  if (unit == 1.0) return scale;
  scale.resize(source.cols(), 1.0);
  for (auto& value : scale) value /= unit;
  return scale;
}

}  // namespace

Centered::Centered(Source source, std::vector<double> center, std::vector<double> scale, std::vector<double> shift,
                   bool has_near_centers, bool weighted)
    : source_(std::move(source)),
      center_(std::move(center)),
      scale_(std::move(scale)),
      shift_(std::move(shift)),
      roots_(weighted ? roots_of(source_.weights()) : std::vector<double>()),
      position_(column_positions(source_)),
      near_centers_(has_near_centers) {
  derive();
}

Centered::Centered(Source source, std::vector<double> reference, double unit)
    : source_(std::move(source)),
      center_(std::move(reference)),
      scale_(scale_in(source_, unit)),
      shift_(center_.size()),
      position_(column_positions(source_)) {
  derive();
}

namespace {
std::vector<double> picked(const std::vector<double>& values, const std::vector<Index>& keep) {
  std::vector<double> out;
  for (const Index j : keep) {
    if (!values.empty()) out.push_back(values[j]);
  }
  return out;
}
}  // namespace

Centered Centered::with_columns(const std::vector<Index>& keep) const {
  return Centered(source_.with_columns(keep), picked(center_, keep), picked(scale_, keep), picked(shift_, keep),
                  near_centers_, !roots_.empty());
}

Centered Centered::without_weights() const { return Centered(source_, center_, scale_, shift_, near_centers_, false); }

// How entries may be read, which follows from the rest.
void Centered::derive() {
  const auto& columns = source_.columns();
  const auto d = columns.size();
  require(center_.size() == d && shift_.size() == d && (scale_.empty() || scale_.size() == d), ErrorCode::internal,
          "centered columns: ", center_.size(), " centers, ", scale_.size(), " scales, ", shift_.size(),
          " shifts, need ", d);
  run_end_.resize(columns.size());
  for (std::size_t j = columns.size(); j-- > 0;) {
    const bool goes_on = j + 1 < columns.size() && columns[j + 1] == columns[j] + 1;
    run_end_[j] = goes_on ? run_end_[j + 1] : static_cast<Index>(j + 1);
  }
  Index runs = 0;
  for (Index j = 0; j < source_.cols(); j = run_end(j)) ++runs;
  const bool unscaled = scale_.empty() && source_.row_scale().empty() && roots_.empty();
  has_center_ = !all_zero(center_);
  plain_rows_ = unscaled && source_.cols() >= kRunLength * runs && !has_center_;
  plain_entries_ = source_.sparse() && unscaled && position_.empty() && all_zero(shift_);
}

Centered::Centered(Source source, const ColumnMoments& moments)
    : Centered(std::move(source), moments.mean, moments.unit) {
  // Moments are those of the scaled columns; the center is taken off before the scale.
  if (!source_.column_scale().empty()) {
    for (std::size_t j = 0; j < center_.size(); ++j) {
      const double scale = source_.column_scale()[j];
      center_[j] = scale == 0 ? 0 : center_[j] / scale;
    }
  }
  roots_ = roots_of(source_.weights());
  if (!source_.sparse()) {
    near_centers_ = scale_.empty() && source_.row_scale().empty() && centers_are_near(moments);
    derive();
    return;
  }
  for (std::size_t j = 0; j < center_.size(); ++j) {
    if (moments.stored[j] == moments.rows) shift_[j] = center_[j];
  }
  derive();
}

}  // namespace tamis
