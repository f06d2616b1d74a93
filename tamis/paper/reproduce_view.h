// The page of the reproduced experiments while it is made: what its sections share. Used by reproduce_*.cpp only.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tamis/base/text/spelling.h"
#include "tamis/paper/reproduce.h"
#include "tamis/paper/reproduce_tables.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/machine.h"
#include "tamis/report/page.h"

namespace tamis {

namespace reproduced {

using page::TableCell;
using enum page::Column::Kind;

inline constexpr const char* kOurs = "ufcm";

inline std::string percent_text(double share) { return fixed_number(100.0 * share, 1) + " %"; }

inline TableCell cell_of(const MeanSd& value) { return {value.mean, value.sd}; }
inline TableCell cell_of(const std::optional<Measured>& measured) {
  return measured ? cell_of(measured->value) : TableCell();
}
inline TableCell cell_of(const std::optional<BesideRandom>& band) { return band ? cell_of(band->value) : TableCell(); }
inline TableCell p_of(const std::optional<BesideRandom>& band) { return band ? TableCell(band->p) : TableCell(); }

// In percentage points, so that a gain is not mistaken for a relative one.
inline TableCell points_of(const std::optional<double>& gain, const std::optional<double>& error = std::nullopt) {
  if (!gain) return {};
  return error ? TableCell(100.0 * *gain, 100.0 * *error) : TableCell(100.0 * *gain);
}

// "a, b and c".
inline std::string spoken(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += concat(i == 0 ? "" : i + 1 == words.size() ? " and " : ", ", words[i]);
  }
  return out;
}

// One claim about our method on all sets: label-best or label-free.
struct Claim {
  const char* name;
  const char* lead;  // of a sentence
  std::optional<Measured> TableRow::*value;
  std::optional<double> TableRow::*gain;
  std::optional<double> TableRow::*error;
  std::optional<BesideRandom> TableRow::*random;
};

class ReproducePage {
 public:
  ReproducePage(const Reproduction& result, const Machine& machine)
      : result_(result),
        protocol_(result.protocol),
        machine_(machine),
        accuracy_(table_of(result, Measure::accuracy)),
        nmi_(table_of(result, Measure::nmi)),
        figures_(figures_of(result)) {
    for (const auto& row : accuracy_) {
      if (row.method == kOurs) ours_.push_back(&row);
    }
  }

  page::Page compose() const;
  std::vector<std::string> claims() const;

 private:
  const ExperimentSet& set_of(const std::string& name) const;
  static std::string title_of(const ExperimentSet& set);
  std::string title_of(const std::string& name) const;
  std::string chosen_share() const;

  // reproduce_page.cpp
  std::string summary() const;
  page::Section verdict() const;
  std::vector<std::string> failures() const;
  std::string claim_text(const Claim& claim) const;
  page::Figure gain_figure() const;
  static page::Bar gain_bar(const std::optional<double>& gain, const std::optional<double>& error);
  page::Table verdict_table() const;
  std::vector<TableCell> verdict_row(const TableRow& row, const Claim& claim) const;
  static std::string beats(const std::optional<BesideRandom>& band);
  page::Facts meanings() const;

  // reproduce_scores.cpp
  page::Section data() const;
  bool any_expected() const;  // whether any set is one of the paper's
  // Whether any set is sampled.
  bool sampled() const;
  std::vector<TableCell> data_row(const ExperimentSet& set) const;
  // Not in the paper: guided sees no labels, and is shown next to the label-best of every method.
  std::vector<page::Block> guided() const;
  std::vector<TableCell> guided_row(const GuidedRow& row) const;
  page::Section scores(const std::string& measure, const std::string& title, const std::vector<TableRow>& rows) const;
  std::vector<TableCell> score_row(const TableRow& row) const;
  static void highlight(page::Table& table, const std::vector<TableRow>& rows, std::size_t column,
                        std::optional<Measured> TableRow::*value);

  // reproduce_figures.cpp
  std::vector<page::Block> figures() const;
  page::Figure figure1() const;
  std::vector<page::Series> size_curves(const Figures& one) const;
  static std::vector<page::Point> level(double from, double to, const Measured& value);
  page::Figure figure2() const;
  const std::vector<std::string>& tried(const std::string& option) const;
  // Unset if the grid has no such settings.
  std::optional<page::Figure> heat_figure(const std::string& title, const std::string& option, const std::string& fixed,
                                          std::vector<FigurePoint> Figures::*points) const;
  page::Section convergence() const;
  std::vector<TableCell> convergence_row(const Figures& one) const;

  // reproduce_run.cpp
  std::vector<page::Block> pixels() const;
  // Ours, then the other methods with the highest label-best.
  std::vector<const TableRow*> drawn_rows(const ExperimentSet& set) const;
  static void add_image(page::Images& images, const ExperimentSet& set, const TableRow& row,
                        const std::optional<Measured>& measured, const std::string& choice);
  page::Section times() const;
  page::Section run() const;
  page::Table protocol_table() const;

  const Reproduction& result_;
  const Protocol& protocol_;
  const Machine& machine_;
  std::vector<TableRow> accuracy_, nmi_;
  std::vector<Figures> figures_;
  std::vector<const TableRow*> ours_;  // by accuracy, one per set
};

}  // namespace reproduced

}  // namespace tamis
