#include "tamis/paper/reproduce_tables.h"

#include <algorithm>
#include <cmath>

namespace tamis {

namespace {

MeanSd SubsetScore::*member_of(Measure measure) {
  return measure == Measure::accuracy ? &SubsetScore::accuracy : &SubsetScore::nmi;
}

// The cells of one set, seen by one measure.
class View {
 public:
  View(const Reproduction& result, const ExperimentSet& set, Measure measure)
      : result_(result), set_(set), measure_(member_of(measure)) {
    for (const auto& cell : result.cells) {
      if (cell.plan.key.set == set.name && !cell.failure) cells_.push_back(&cell);
    }
  }

  Index chosen() const { return chosen_size(result_.protocol, set_.source.cols()); }

  std::vector<const Cell*> of(const std::string& method, bool PlannedCell::*kind) const {
    std::vector<const Cell*> found;
    for (const Cell* cell : cells_) {
      if (cell->plan.key.method == method && cell->plan.*kind) found.push_back(cell);
    }
    return found;
  }

  std::vector<Measured> measured(const Cell& cell) const {
    std::vector<Measured> sizes;
    for (const auto& score : cell.scores) sizes.push_back({&cell, score.features, score.*measure_});
    return sizes;
  }

  std::optional<Measured> at(const Cell& cell, Index features) const {
    for (const auto& one : measured(cell)) {
      if (one.features == features) return one;
    }
    return std::nullopt;
  }

  std::optional<Measured> all() const {
    for (const Cell* cell : cells_) {
      if (cell->plan.key.method == kAllFeatures) return measured(*cell).front();
    }
    return std::nullopt;
  }

  std::optional<BesideRandom> beside_random(const Measured& given) const {
    for (const Cell* cell : cells_) {
      if (cell->plan.key.method != kRandomFeatures || cell->plan.key.sizes.front() != given.features) continue;
      BesideRandom band;
      band.features = given.features;
      band.subsets = static_cast<Index>(cell->scores.size());
      band.value = summary_of(cell->scores).*measure_;
      const auto [least, most] =
          std::minmax_element(cell->scores.begin(), cell->scores.end(),
                              [&](const auto& a, const auto& b) { return (a.*measure_).mean < (b.*measure_).mean; });
      band.min = ((*least).*measure_).mean;
      band.max = ((*most).*measure_).mean;
      band.p = p_value(cell->scores, measure_, given.value.mean);
      band.beats_random = band.p <= kBeatsRandom;
      return band;
    }
    return std::nullopt;
  }

 private:
  const Reproduction& result_;
  const ExperimentSet& set_;
  MeanSd SubsetScore::*measure_;
  std::vector<const Cell*> cells_;
};

// The largest mean; of equal ones the first.
std::optional<Measured> best_of(const std::vector<Measured>& all) {
  std::optional<Measured> best;
  for (const auto& one : all) {
    if (!best || one.value.mean > best->value.mean) best = one;
  }
  return best;
}

// Of the difference of two means of so many starts.
double error_of_difference(const MeanSd& a, const MeanSd& b, Index starts) {
  return std::sqrt((a.sd * a.sd + b.sd * b.sd) / static_cast<double>(starts));
}

void add_grid(const View& view, TableRow& row) {
  std::vector<Measured> tried;
  for (const Cell* cell : view.of(row.method, &PlannedCell::grid)) {
    const auto sizes = view.measured(*cell);
    tried.insert(tried.end(), sizes.begin(), sizes.end());
  }
  row.evaluations = static_cast<Index>(tried.size());
  row.best = best_of(tried);
  if (!row.best) return;
  std::vector<double> means;
  for (const auto& one : tried) means.push_back(one.value.mean);
  row.median = median(means);
  row.worst = *std::min_element(means.begin(), means.end());
  row.best_random = view.beside_random(*row.best);
  for (const Cell* cell : view.of("maxvar", &PlannedCell::grid)) row.max_variance = view.at(*cell, row.best->features);
}

void add_label_free(const View& view, TableRow& row) {
  for (const Cell* cell : view.of(row.method, &PlannedCell::label_free)) {
    row.label_free = view.measured(*cell);
    row.chosen = view.at(*cell, view.chosen());
  }
  if (row.chosen) row.chosen_random = view.beside_random(*row.chosen);
}

void add_gains(TableRow& row, Measure measure, Index repeats) {
  row.paper = paper_value(measure, row.set, row.method);
  const auto paper_all = paper_value(measure, row.set, kAllFeatures);
  if (row.paper && paper_all) row.paper_gain = row.paper->mean - paper_all->mean;
  if (row.best && row.all) {
    row.gain = row.best->value.mean - row.all->value.mean;
    row.gain_error = error_of_difference(row.best->value, row.all->value, repeats);
  }
  if (row.chosen && row.all) {
    row.chosen_gain = row.chosen->value.mean - row.all->value.mean;
    row.chosen_gain_error = error_of_difference(row.chosen->value, row.all->value, repeats);
  }
}

// --- Figures ------------------------------------------------------------------------------------------------------

FigurePoint figure_point(const View& view, const Cell& cell) {
  return {cell.plan.settings, best_of(view.measured(cell)), view.at(cell, view.chosen())};
}

std::vector<FigurePoint> points_with(const View& view, bool PlannedCell::*kind, const std::string& option,
                                     const std::string& value) {
  std::vector<FigurePoint> points;
  for (const Cell* cell : view.of("ufcm", kind)) {
    const auto found = cell->plan.settings.find(option);
    if (found != cell->plan.settings.end() && found->second == value) points.push_back(figure_point(view, *cell));
  }
  return points;
}

std::vector<Figure1Point> by_size(const View& view, const std::vector<Index>& sizes) {
  std::vector<Figure1Point> points;
  for (const Index size : sizes) {
    Figure1Point point;
    point.features = size;
    std::vector<Measured> tried;
    for (const Cell* cell : view.of("ufcm", &PlannedCell::grid)) {
      if (const auto one = view.at(*cell, size)) tried.push_back(*one);
    }
    point.best = best_of(tried);
    for (const Cell* cell : view.of("ufcm", &PlannedCell::label_free)) point.label_free = view.at(*cell, size);
    if (point.best) point.random = view.beside_random(*point.best);
    if (point.best || point.label_free) points.push_back(point);
  }
  return points;
}

std::optional<Convergence> convergence_of(const View& view) {
  for (const Cell* cell : view.of("ufcm", &PlannedCell::figure)) {
    if (cell->plan.settings.at("beta") == "1") return Convergence{cell, never_falls(cell->objective)};
  }
  return std::nullopt;
}

}  // namespace

bool never_falls(const std::vector<double>& objective) {
  constexpr double kRounding = 1e-10;
  for (std::size_t i = 1; i < objective.size(); ++i) {
    const double slack = kRounding * std::max(std::abs(objective[i - 1]), std::abs(objective[i]));
    if (!(objective[i] >= objective[i - 1] - slack)) return false;
  }
  return true;
}

std::vector<Spent> spent_by_method(const Reproduction& result) {
  std::vector<Spent> spent;
  for (const auto& cell : result.cells) {
    const CellKey& key = cell.plan.key;
    if (spent.empty() || spent.back().set != key.set || spent.back().method != key.method) {
      spent.push_back({key.set, key.method});
    }
    ++spent.back().cells;
    spent.back().seconds += cell.seconds;
    spent.back().cpu_seconds += cell.cpu_seconds;
  }
  return spent;
}

std::vector<TableRow> table_of(const Reproduction& result, Measure measure) {
  std::vector<TableRow> rows;
  for (const auto& set : result.sets) {
    const View view(result, set, measure);
    for (const auto& method : result.methods) {
      TableRow row;
      row.set = set.name;
      row.method = method.name;
      row.all = view.all();
      add_grid(view, row);
      add_label_free(view, row);
      add_gains(row, measure, result.protocol.repeats);
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::vector<GuidedRow> guided_rows(const Reproduction& result, Measure measure) {
  std::vector<GuidedRow> rows;
  for (const auto& set : result.sets) {
    const View view(result, set, measure);
    GuidedRow row;
    row.set = set.name;
    row.all = view.all();
    for (const Cell* cell : view.of(kGuided, &PlannedCell::own_size)) {
      (cell->plan.settings.empty() ? row.unknown : row.given) = view.measured(*cell).front();
    }
    for (const auto& method : result.methods) {
      TableRow best;
      best.method = method.name;
      add_grid(view, best);
      row.label_best.push_back(best.best);
    }
    if (row.unknown || row.given) rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Figures> figures_of(const Reproduction& result) {
  std::vector<Figures> all;
  for (const auto& set : result.sets) {
    const View view(result, set, Measure::accuracy);
    Figures figures;
    figures.set = set.name;
    figures.all = view.all();
    figures.sizes = by_size(view, sizes_of(result.protocol, set.source.cols()));
    figures.beta = points_with(view, &PlannedCell::figure, "alpha", "1");
    figures.alpha_p = points_with(view, &PlannedCell::grid, "beta", kFigure3Beta);
    figures.beta_p = points_with(view, &PlannedCell::grid, "alpha", kFigure4Alpha);
    figures.convergence = convergence_of(view);
    all.push_back(std::move(figures));
  }
  return all;
}

}  // namespace tamis
