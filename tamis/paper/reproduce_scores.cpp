#include <algorithm>
#include <map>

#include "tamis/base/message.h"
#include "tamis/paper/reproduce_view.h"

namespace tamis {

namespace reproduced {

namespace {

std::string range_text(const std::optional<BesideRandom>& band) {
  return band ? concat(percent_text(band->min), " to ", percent_text(band->max)) : std::string();
}

}  // namespace

page::Section ReproducePage::data() const {
  page::Table table;
  table.title = "Table 1: data sets";
  table.caption = "The number of rows in the paper is given if it differs from ours.";
  table.columns = {{"data"}, {"rows", number}};
  if (sampled()) table.columns.push_back({"of", number});
  table.columns.insert(table.columns.end(), {{"in the paper"}, {"features", number}, {"classes", number}, {"numbers"}});
  if (any_expected()) table.columns.insert(table.columns.end(), {{"image"}, {"origin"}, {"known limitations"}});
  for (const auto& set : result_.sets) table.rows.push_back(data_row(set));
  return {"Data", {table}};
}

bool ReproducePage::any_expected() const {
  return std::any_of(result_.sets.begin(), result_.sets.end(), [](const auto& set) { return set.expected != nullptr; });
}

bool ReproducePage::sampled() const {
  return std::any_of(result_.sets.begin(), result_.sets.end(), [](const auto& set) {
    return set.expected != nullptr && set.source.rows() != set.expected->rows;
  });
}

std::vector<TableCell> ReproducePage::data_row(const ExperimentSet& set) const {
  std::vector<TableCell> row = {title_of(set), set.source.rows()};
  const ExpectedSet* expected = set.expected;
  if (sampled()) row.emplace_back(expected != nullptr ? TableCell(expected->rows) : TableCell());
  const bool differs = expected != nullptr && expected->paper_rows != expected->rows;
  row.emplace_back(differs               ? concat(expected->paper_rows, " rows")
                   : expected != nullptr ? "the same"
                                         : "not in the paper");
  row.emplace_back(set.source.cols());
  row.emplace_back(set.class_count);
  row.emplace_back(concat(name_of(set.dtype), set.dtype == DType::u8 ? " / 255" : ""));
  if (!any_expected()) return row;
  row.emplace_back(expected != nullptr ? concat(expected->image_rows, " x ", expected->image_columns) : std::string());
  row.emplace_back(expected != nullptr ? expected->origin : std::string());
  row.emplace_back(expected != nullptr ? expected->limits : std::string());
  return row;
}

std::vector<page::Block> ReproducePage::guided() const {
  std::vector<page::Block> blocks;
  const auto add = [&](const char* name, Measure measure) {
    const auto rows = guided_rows(result_, measure);
    if (rows.empty()) return;
    page::Table table;
    table.title = concat("Guided UFCM and the label-best of every method (", name, ")");
    table.caption = blocks.empty()
                        ? "guided sees no labels and chooses the number of columns itself; it is shown without "
                          "and with the number of classes. The other methods show their label-best, which cannot "
                          "be obtained without labels."
                        : "As above.";
    table.wide = true;
    table.columns = {{"data"},
                     {"guided", percent, 1},
                     {"features", number},
                     {"guided, c given", percent, 1},
                     {"features", number},
                     {"AllFea", percent, 1}};
    for (const auto& method : result_.methods) table.columns.push_back({method.name, percent, 1});
    for (const auto& row : rows) table.rows.push_back(guided_row(row));
    blocks.emplace_back(table);
  };
  add("ACC", Measure::accuracy);
  add("NMI", Measure::nmi);
  return blocks;
}

std::vector<TableCell> ReproducePage::guided_row(const GuidedRow& row) const {
  const auto count = [](const std::optional<Measured>& one) { return one ? TableCell(one->features) : TableCell(); };
  std::vector<TableCell> cells = {title_of(row.set),  cell_of(row.unknown), count(row.unknown),
                                  cell_of(row.given), count(row.given),     cell_of(row.all)};
  for (const auto& best : row.label_best) cells.push_back(cell_of(best));
  return cells;
}

page::Section ReproducePage::scores(const std::string& measure, const std::string& title,
                                    const std::vector<TableRow>& rows) const {
  page::Table table;
  table.title = title;
  table.caption = "Highlighted: the best method on each set. Gains in percentage points.";
  table.wide = true;
  table.columns = {{"data"},
                   {"method"},
                   {"label-best", percent, 1},
                   {"features", number},
                   {"tried", number},
                   {"label-free", percent, 1},
                   {"median", percent, 1},
                   {"worst", percent, 1},
                   {"AllFea", percent, 1},
                   {"MaxVar", percent, 1},
                   {"random", percent, 1},
                   {"random, min to max"},
                   {"p", number, 3},
                   {"gain", number, 1},
                   {"p, label-free", number, 3},
                   {"gain, label-free", number, 1},
                   {"paper", percent, 1},
                   {"paper's gain", number, 1},
                   {"label-best at"}};
  for (const auto& row : rows) table.rows.push_back(score_row(row));
  highlight(table, rows, 2, &TableRow::best);
  highlight(table, rows, 5, &TableRow::chosen);
  return {measure, {table}};
}

std::vector<TableCell> ReproducePage::score_row(const TableRow& row) const {
  const bool some = row.best.has_value();
  return {title_of(row.set),
          row.method,
          cell_of(row.best),
          some ? TableCell(row.best->features) : TableCell(),
          row.evaluations,
          cell_of(row.chosen),
          some ? TableCell(row.median) : TableCell(),
          some ? TableCell(row.worst) : TableCell(),
          cell_of(row.all),
          cell_of(row.max_variance),
          cell_of(row.best_random),
          range_text(row.best_random),
          p_of(row.best_random),
          points_of(row.gain, row.gain_error),
          p_of(row.chosen_random),
          points_of(row.chosen_gain, row.chosen_gain_error),
          row.paper ? TableCell(row.paper->mean, row.paper->sd) : TableCell(),
          points_of(row.paper_gain),
          some ? settings_text(row.best->cell->plan.settings) : std::string()};
}

void ReproducePage::highlight(page::Table& table, const std::vector<TableRow>& rows, std::size_t column,
                              std::optional<Measured> TableRow::*value) {
  std::map<std::string, double> most;
  for (const auto& row : rows) {
    if (!(row.*value)) continue;
    const auto [known, added] = most.emplace(row.set, (row.*value)->value.mean);
    known->second = std::max(known->second, (row.*value)->value.mean);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    table.rows[i][column].best = rows[i].*value && (rows[i].*value)->value.mean == most.at(rows[i].set);
  }
}

}  // namespace reproduced

}  // namespace tamis
