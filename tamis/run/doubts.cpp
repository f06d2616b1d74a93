#include "tamis/run/doubts.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/data/passes/tile.h"
#include "tamis/run/sentinel.h"

namespace tamis {

namespace {

constexpr double kWideSpread = 100.0;  // of standard deviations: worth a warning
constexpr double kUnlike = 10.0;       // of standard deviations: not by chance
constexpr std::size_t kNamed = 5;      // columns named in one line

bool is_whole(double value) { return value == std::floor(value); }

std::string named_columns(const std::vector<Index>& columns, const ColumnName& name) {
  std::string out = columns.size() == 1 ? "column " : "columns ";
  for (std::size_t k = 0; k < std::min(kNamed, columns.size()); ++k) {
    out += (k == 0 ? "" : ", ") + printable(name(columns[k]));
  }
  return out + (columns.size() > kNamed ? concat(" and ", columns.size() - kNamed, " more") : "");
}

// Calls visit(value) for the numbers of a column in a block, until it says false.
template <class Visit>
bool visit_column(const Source& source, const Block& block, Index j, Visit visit) {
  const Index stored = source.columns()[j];
  for (Index i = 0; i < block.rows; ++i) {
    if (!visit(element(block.dense, i, stored))) return false;
  }
  return true;
}

// --- Columns that count --------------------------------------------------------------------------------------------

// Columns whose moments leave that open. n different whole numbers have a range of at least n - 1; numbers in even
// steps have nearly the variance of a uniform distribution, 1/12 of the square of their range. That rules most columns
// out without a look at them.
std::vector<Index> may_count(const ColumnMoments& moments, const ColumnName& name) {
  constexpr double kLeast = 0.04, kMost = 0.13;
  std::vector<Index> columns;
  for (Index j = 0; j < static_cast<Index>(moments.min.size()); ++j) {
    const double low = moments.min[j], high = moments.max[j], range = high - low;
    if (!moments.varies(j)) continue;
    const bool whole = is_whole(low) && is_whole(high) && range >= static_cast<double>(moments.rows - 1);
    const double share = std::sqrt(moments.variance(j)) / range;
    const bool even = share * share > kLeast && share * share < kMost;
    const std::string called = name(j);
    if (whole || even || is_id_like(called) || is_time_like(called)) columns.push_back(j);
  }
  return columns;
}

struct Counting {
  std::vector<Index> columns;
  bool rise = true, whole = true;  // all of them
};

Counting counting_columns(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                          Context& context) {
  std::vector<Index> columns = may_count(moments, name);
  std::vector<Course> courses(columns.size());
  const Store& store = source.store();
  for (Index b = 0; b < store.block_count() && !columns.empty(); ++b) {
    context.check_cancelled();
    const Block block = store.block(b);
    std::size_t kept = 0;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      Course course = courses[k];
      const auto goes_on = [&](double value) { return course.add(value); };
      if (visit_column(source, block, columns[k], goes_on)) columns[kept] = columns[k], courses[kept++] = course;
    }
    columns.resize(kept), courses.resize(kept);
  }
  Counting found;
  for (std::size_t k = 0; k < columns.size(); ++k) {
    if (!courses[k].is_index(name(columns[k]))) continue;
    found.columns.push_back(columns[k]);
    found.rise = found.rise && courses[k].rises();
    found.whole = found.whole && courses[k].whole();
  }
  return found;
}

std::vector<Message> doubts_of_counting(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                                        Context& context) {
  const auto [columns, rise, whole] = counting_columns(source, moments, name, context);
  if (columns.empty()) return {};
  const char* go = columns.size() == 1 ? (rise ? " rises" : " falls") : rise ? " rise" : " rise or fall";
  return {message(named_columns(columns, name), go, " from row to row", whole ? " in whole numbers" : "",
                  ", as identifiers and times do; ", Flag{"exclude", printable(name(columns[0]))},
                  " unless it is meant as a feature")};
}

// --- Numbers that stand for missing values -------------------------------------------------------------------------

// The column without a value at its end.
Rest rest_of(const Source& source, Index j, double sentinel, Context& context) {
  Rest rest;
  for (Index b = 0; b < source.store().block_count(); ++b) {
    context.check_cancelled();
    visit_column(source, source.store().block(b), j, [&](double value) {
      if (is_about(value, sentinel)) {
        ++rest.found;
      } else {
        rest.add(value);
      }
      return true;
    });
  }
  return rest;
}

// Whether nearly all numbers of the column are at its ends, as where one end is far from all others: then its variance
// is p (1 - p) of the square of the range, p being the share at the upper end.
bool may_have_far_end(const ColumnMoments& moments, Index j) {
  constexpr double kClose = 0.01, kLeast = 100.0;  // smaller numbers are codes
  const double range = moments.max[j] - moments.min[j];
  if (!(std::max(std::abs(moments.min[j]), std::abs(moments.max[j])) >= kLeast)) return false;
  const double p = (moments.mean[j] - moments.min[j]) / range, share = std::sqrt(moments.variance(j)) / range;
  return std::abs(share * share - p * (1.0 - p)) <= kClose * p * (1.0 - p) + 1.0 / static_cast<double>(moments.rows);
}

std::vector<Message> doubts_of_sentinels(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                                         Context& context) {
  constexpr std::size_t kLookedAt = 64;  // columns
  std::vector<Index> columns;
  Index found = 0;
  double example = 0.0;
  std::size_t looked_at = 0;
  for (Index j = 0; j < source.cols() && looked_at < kLookedAt; ++j) {
    for (const double end : {moments.min[j], moments.max[j]}) {
      if (!moments.varies(j) || !(is_sentinel(end) || may_have_far_end(moments, j))) continue;
      ++looked_at;
      const Rest rest = rest_of(source, j, end, context);
      if (!rest.makes_sentinel(end)) continue;
      if (columns.empty() || columns.back() != j) columns.push_back(j);
      if (found == 0) example = end;
      found += rest.found;
    }
  }
  if (columns.empty()) return {};
  return {message(named_columns(columns, name), ": ", found, found == 1 ? " value like " : " values like ",
                  short_number(example, 6), " far from all others, as missing values are marked, and read as numbers; ",
                  "fill them in or ", Flag{"exclude", printable(name(columns[0]))})};
}

// --- Raw counts -----------------------------------------------------------------------------------------------------

bool all_whole(const Block& block) {
  if (block.sparse) {
    for (Index at = block.csr.offsets[0]; at < block.csr.offsets[block.rows]; ++at) {
      if (!is_whole(block.csr.value(at))) return false;
    }
    return true;
  }
  for (Index i = 0; i < block.rows; ++i) {
    for (Index j = 0; j < block.dense.cols; ++j) {
      if (!is_whole(element(block.dense, i, j))) return false;
    }
  }
  return true;
}

// Whether the columns are of very different sizes, and each varies at least like a count of its size (Poisson: the
// variance is the mean). Ratings and pixels reach similar values; years and sizes in millimeters vary less.
bool vary_like_counts(const ColumnMoments& moments) {
  constexpr std::size_t kFewest = 20;  // columns
  constexpr double kLargest = 20.0;    // of codes and marks
  constexpr double kUneven = 10.0;     // the largest by the middle one
  constexpr double kNearlyAll = 0.9, kPoisson = 0.5;
  if (moments.max.size() < kFewest) return false;
  std::vector<double> highest = moments.max;
  const auto middle = highest.begin() + static_cast<std::ptrdiff_t>(highest.size() / 2);
  std::nth_element(highest.begin(), middle, highest.end());
  if (*middle < kLargest || *std::max_element(middle, highest.end()) < kUneven * *middle) return false;
  std::size_t vary = 0;
  for (std::size_t j = 0; j < moments.max.size(); ++j) {
    const auto column = static_cast<Index>(j);
    vary += !moments.varies(column) || moments.variance(column) >= kPoisson * moments.mean[j] ? 1 : 0;
  }
  return static_cast<double>(vary) >= kNearlyAll * static_cast<double>(moments.max.size());
}

// Of many columns, half of which have a 0 and few of which reach the largest number, as pixels do in many.
bool are_mostly_from_zero(const ColumnMoments& moments, Index from_zero) {
  constexpr std::size_t kFewest = 50;  // columns
  constexpr double kLargest = 20.0;    // of codes and marks
  const std::size_t d = moments.max.size();
  return d >= kFewest && *std::max_element(moments.max.begin(), moments.max.end()) >= kLargest &&
         2 * static_cast<std::size_t>(from_zero) >= d;
}

bool are_counts(const Source& source, const ColumnMoments& moments) {
  const double most = *std::max_element(moments.max.begin(), moments.max.end());
  Index from_zero = 0, at_most = 0;
  for (std::size_t j = 0; j < moments.min.size(); ++j) {
    const double low = moments.min[j], high = moments.max[j];
    if (low < 0.0 || !is_whole(low) || !is_whole(high)) return false;
    from_zero += low == 0.0 ? 1 : 0;
    at_most += high == most ? 1 : 0;
  }
  const Index d = source.cols();
  if (100 * at_most > std::max<Index>(100, d)) return false;
  if (!are_mostly_from_zero(moments, from_zero) && !vary_like_counts(moments)) return false;
  return all_whole(source.store().some_rows(0, std::min(kPieceRows, source.rows())));
}

// --- Units ---------------------------------------------------------------------------------------------------------

// Whether the largest values of the columns are of one order.
bool reach_alike(const ColumnMoments& moments) {
  constexpr double kAlike = 30.0;
  std::vector<double> highest = moments.max;
  const auto middle = highest.begin() + static_cast<std::ptrdiff_t>(highest.size() / 2);
  std::nth_element(highest.begin(), middle, highest.end());
  return *std::max_element(middle, highest.end()) <= kAlike * *middle;
}

// In what unit all columns are; empty where they need not share one.
std::string shared_unit(const Source& source, const ColumnMoments& moments) {
  constexpr Index kFewest = 20;      // columns, of counts or pixels
  constexpr double kFromZero = 0.9;  // of them
  if (source.sparse()) return "the table is sparse, as counts and weights of words are";
  Index from_zero = 0;
  bool whole = true, shares = true, negative = false;
  for (std::size_t j = 0; j < moments.min.size(); ++j) {
    const double low = moments.min[j], high = moments.max[j];
    negative = negative || low < 0.0;
    whole = whole && is_whole(low) && is_whole(high);
    shares = shares && low >= -1.0 && high <= 1.0;
    from_zero += low == 0.0 ? 1 : 0;
  }
  if (shares) return "all numbers are within -1..1";
  if (negative) return {};
  const bool mostly_from_zero =
      source.cols() >= kFewest && static_cast<double>(from_zero) >= kFromZero * static_cast<double>(source.cols());
  if ((mostly_from_zero && whole) || are_counts(source, moments)) {
    return "all columns hold whole numbers from 0, as counts and pixels are";
  }
  if (mostly_from_zero && reach_alike(moments)) return "all columns reach from 0 to similar values";
  return {};
}

// The columns with the largest and the smallest deviation.
std::pair<Index, Index> extreme_columns(const Source& source, const ColumnMoments& moments) {
  Index least = -1, most = -1;
  for (Index j = 0; j < source.cols(); ++j) {
    if (!moments.varies(j)) continue;
    if (least < 0 || moments.variance(j) < moments.variance(least)) least = j;
    if (most < 0 || moments.variance(j) > moments.variance(most)) most = j;
  }
  return {most, least};
}

}  // namespace

bool looks_like_counts(const Source& source, const ColumnMoments& moments) {
  return !moments.max.empty() && are_counts(source, moments);
}

std::vector<Message> doubts(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                            Context& context) {
  std::vector<Message> lines;
  if (looks_like_counts(source, moments)) {
    lines.push_back(
        message("the numbers look like raw counts, where the largest columns and rows dominate; normalize them first (",
                Flag{"counts"}, "): each row divided by its sum, times 10000, then log(1 + x)"));
  }
  if (source.sparse()) return lines;
  for (auto& line : doubts_of_sentinels(source, moments, name, context)) lines.push_back(std::move(line));
  for (auto& line : doubts_of_counting(source, moments, name, context)) lines.push_back(std::move(line));
  return lines;
}

ScaleAdvice advise_scaling(const Source& source, const ColumnMoments& moments, const ColumnName& name) {
  if (const std::string unit = shared_unit(source, moments); !unit.empty()) return {Scaling::none, unit};
  const double spread = deviation_spread(moments);
  if (!(spread > kUnlike)) {
    return {Scaling::none, concat("standard deviations differ only by a factor of ", short_number(spread, 3))};
  }
  const auto [most, least] = extreme_columns(source, moments);
  return {Scaling::standard,
          concat("units seem to differ: standard deviations do by a factor of ", short_number(spread, 3), " (columns ",
                 printable(name(most)), " and ", printable(name(least)), ")")};
}

std::vector<Message> doubts_of_units(const Source& source, const ColumnMoments& moments, const ColumnName& name,
                                     Scaling cure) {
  const double spread = deviation_spread(moments);
  if (!(spread > kWideSpread) || advise_scaling(source, moments, name).scale == Scaling::none) return {};
  const auto [most, least] = extreme_columns(source, moments);
  return {message("column standard deviations differ by a factor of ", short_number(spread, 3), " (columns ",
                  printable(name(most)), " and ", printable(name(least)),
                  "), so the columns with large numbers dominate; consider ", Flag{"scale", name_of(cure)})};
}

}  // namespace tamis
