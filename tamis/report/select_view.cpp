#include "tamis/report/select_view.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/text/quote.h"
#include "tamis/eval/redundancy.h"

namespace tamis {

namespace {

constexpr std::size_t kPartners = 100;         // best features that are searched for the most similar one
constexpr std::size_t kFigureName = 400;       // its label, which is shorter, has the part that tells it apart
constexpr std::size_t kClusterPixels = 40000;  // of images whose clusters are drawn
constexpr std::size_t kCurvePoints = 400;

}  // namespace

SelectView::SelectView(const SelectionRecord& of, const SelectPageOptions& wanted, Context& within)
    : record(of), options(wanted), context(within), result(of.result), selection(result.selection) {
  place.assign(at(record.table.source.cols()), -1);
  for (std::size_t i = 0; i < result.available.size(); ++i) place[at(result.available[i])] = static_cast<Index>(i);
  chosen.assign(result.scores.size(), 0);
  for (const Index j : result.selected) chosen[at(j)] = 1;
  moments = column_moments(kept(), context);
  top.assign(result.ranking.begin(),
             result.ranking.begin() + static_cast<Index>(std::min(kPartners, result.ranking.size())));
  if (top.size() > 1) correlation = correlations_of(top);
  const std::vector<int> clusters = known_clusters(result, record.table.source.rows(), record.seed);
  const bool several = !clusters.empty() && *std::ranges::max_element(clusters) > 0;
  const bool few_pixels = result.ranking.size() <= kClusterPixels;
  if (several) profile = profile_clusters(kept(), moments, result, clusters, options.image && few_pixels, context);
}

std::string SelectView::name(Index j) const {
  const std::string found = feature_name(record.table, j);
  return found.empty() ? "(empty name)" : page::elided(printable(found, found.size()), kFigureName);
}

page::TableCell SelectView::name_of_row(Index j) const { return page::name_cell(feature_name(record.table, j)); }

Source SelectView::kept() const {
  const Source rows = weighted(record.table.source, record.request);
  return record.request.exclude.empty() ? rows : rows.with_columns(result.available);
}

Matrix SelectView::correlations_of(const std::vector<Index>& features) const {
  std::vector<Index> columns;
  for (const Index j : features) columns.push_back(place[at(j)]);
  std::sort(columns.begin(), columns.end());
  const Matrix found = correlations(scaled(kept(), result.scale, moments, context).with_columns(columns), context);
  const auto position = [&](Index j) {
    return std::lower_bound(columns.begin(), columns.end(), place[at(j)]) - columns.begin();
  };
  Matrix out(found.rows(), found.cols());
  for (std::size_t a = 0; a < features.size(); ++a) {
    for (std::size_t b = 0; b < features.size(); ++b) {
      out(static_cast<Index>(a), static_cast<Index>(b)) = found(position(features[a]), position(features[b]));
    }
  }
  return out;
}

void add_warnings(const SelectView& view, page::Section& section) {
  for (const auto& warning : view.record.warnings) section.blocks.push_back(page::Note{warning, true});
}

std::vector<page::Point> curve(const std::vector<double>& falling, bool log_x) {
  std::vector<page::Point> points;
  const double last = static_cast<double>(falling.size() - 1);
  std::size_t before = falling.size();
  for (std::size_t i = 0; i < kCurvePoints; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(kCurvePoints - 1);
    const double position = log_x ? std::expm1(share * std::log1p(last)) : share * last;
    const auto rank = static_cast<std::size_t>(std::llround(position));
    if (rank == before) continue;
    points.push_back({static_cast<double>(rank + 1), falling[rank]});
    before = rank;
  }
  return points;
}

}  // namespace tamis
