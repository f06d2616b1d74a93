#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "tamis/base/message.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/version.h"
#include "tamis/paper/reproduce_view.h"
#include "tamis/report/select_page.h"

namespace tamis {

namespace reproduced {

namespace {

constexpr std::size_t kRivals = 2;     // other methods whose pixels are drawn next to ours
constexpr std::uint8_t kLastInk = 70;  // of the last selected pixel; the first has 255

}  // namespace

// --- Pixels ----------------------------------------------------------------------------------------------------------

std::vector<page::Block> ReproducePage::pixels() const {
  std::vector<page::Block> blocks;
  for (const auto& set : result_.sets) {
    if (set.expected == nullptr) continue;
    page::Images images{title_of(set), "", {}};
    for (const auto& row : drawn_rows(set)) {
      add_image(images, set, *row, row->best, "label-best");
      if (row->method == kOurs) add_image(images, set, *row, row->chosen, "label-free");
    }
    if (!images.images.empty()) blocks.push_back(std::move(images));
  }
  if (blocks.empty()) return blocks;
  blocks.insert(
      blocks.begin(),
      page::Text{concat("Selected pixels: darker means earlier in the ranking; white pixels were not selected. "
                        "Shown are ufcm and the ",
                        kRivals, " other methods with the highest label-best ACC.")});
  return blocks;
}

std::vector<const TableRow*> ReproducePage::drawn_rows(const ExperimentSet& set) const {
  std::vector<const TableRow*> rivals, drawn;
  for (const auto& row : accuracy_) {
    if (row.set == set.name && row.best) (row.method == kOurs ? drawn : rivals).push_back(&row);
  }
  std::stable_sort(rivals.begin(), rivals.end(),
                   [](const auto* a, const auto* b) { return a->best->value.mean > b->best->value.mean; });
  rivals.resize(std::min(kRivals, rivals.size()));
  drawn.insert(drawn.end(), rivals.begin(), rivals.end());
  return drawn;
}

void ReproducePage::add_image(page::Images& images, const ExperimentSet& set, const TableRow& row,
                              const std::optional<Measured>& measured, const std::string& choice) {
  const ImageShape shape{set.expected->image_rows, set.expected->image_columns, set.expected->column_major};
  const auto count = static_cast<std::size_t>(shape.height * shape.width);
  if (!measured || measured->cell->ranking.size() != count) return;
  page::Image image{shape.width, shape.height, std::vector<std::uint8_t>(count, 0), "", ""};
  const double last = std::max(1.0, static_cast<double>(measured->features - 1));
  for (Index rank = 0; rank < measured->features; ++rank) {
    const Index pixel = shape.pixel(measured->cell->ranking[rank]);
    const double shade = 255.0 - (255.0 - kLastInk) * static_cast<double>(rank) / last;
    image.ink[pixel] = static_cast<std::uint8_t>(std::lround(shade));
  }
  image.label =
      concat(row.method, " ", choice, ": ", measured->features, " pixels, ACC ", percent_text(measured->value.mean));
  image.alt = concat("Image of ", shape.height, " x ", shape.width, " pixels of ", title_of(set), ": the ",
                     measured->features, " selected by ", row.method, ", ", choice, ", are dark.");
  images.images.push_back(std::move(image));
}

// --- Time, and the run -----------------------------------------------------------------------------------------------

page::Section ReproducePage::times() const {
  const auto spent = spent_by_method(result_);
  std::vector<std::string> names;  // including controls
  for (const auto& one : spent) {
    if (std::find(names.begin(), names.end(), one.method) == names.end()) names.push_back(one.method);
  }
  page::BarChart chart;
  chart.value_title = "CPU seconds", chart.horizontal = true;
  chart.series = {{"CPU seconds", {}, false}};
  page::Table table;
  table.title = "CPU seconds per cell";
  table.caption = concat("A cell is one ranking of all features with one setting, and all sizes measured with ",
                         protocol_.repeats, " starts each; for random, ", protocol_.subsets, " subsets of one size.");
  table.columns = {{"method"}, {"cells", number}, {"total, s", number, 1}};
  for (const auto& set : result_.sets) table.columns.push_back({title_of(set), significant, 3});
  for (const auto& name : names) {
    Index cells = 0;
    double all = 0.0;
    std::vector<TableCell> by_set;
    for (const auto& set : result_.sets) {
      by_set.emplace_back();
      for (const auto& one : spent) {
        if (one.set != set.name || one.method != name) continue;
        cells += one.cells, all += one.cpu_seconds;
        by_set.back() = TableCell(one.cpu_seconds / static_cast<double>(one.cells));
      }
    }
    std::vector<TableCell> row = {name, cells, all};
    row.insert(row.end(), by_set.begin(), by_set.end());
    table.rows.push_back(std::move(row));
    chart.categories.push_back(name);
    chart.series[0].bars.push_back({all});
  }
  page::Figure figure{"CPU seconds of all cells", "Including cells computed by earlier runs.", "",
                      page::bar_chart(chart)};
  figure.alt = "Bar chart of the CPU seconds that each method's cells took; the table below has the numbers.";
  return {"Time", {figure, table}};
}

page::Section ReproducePage::run() const {
  page::Facts facts;
  const auto add = [&](const std::string& key, const std::string& value) { facts.facts.emplace_back(key, value); };
  double cpu_seconds = 0.0;
  for (const auto& cell : result_.cells) cpu_seconds += cell.cpu_seconds;
  add("protocol", concat(protocol_.quick ? "quick" : "full", ", version ", kProtocolVersion));
  add("seed", std::to_string(result_.seed));
  add("cells", concat(result_.cells.size(), ", ", result_.found, " of them from earlier runs"));
  const double seconds = result_.seconds < 100 ? result_.seconds : std::round(result_.seconds);
  add("time", concat(short_number(seconds, seconds < 100 ? 3 : 9), " s of wall-clock time in this run, with ",
                     result_.threads, " threads; ", short_number(cpu_seconds, 4), " s of CPU time in all cells"));
  add("machine", concat(machine_.processor.empty() ? "" : machine_.processor + ", ", machine_.cores, " cores, ",
                        size_text(machine_.memory_bytes), ", ", machine_.system));
  add("version", concat("tamis ", kVersion));
  return {"The run", {facts, protocol_table()}};
}

page::Table ReproducePage::protocol_table() const {
  page::Table table;
  table.title = "Protocol";
  table.columns = {{"item"}, {"value"}};
  table.sortable = false;
  const auto add = [&](const std::string& what, const std::string& value) { table.rows.push_back({what, value}); };
  std::vector<std::string> shares;
  for (const double share : protocol_.shares) shares.push_back(short_number(100.0 * share));
  add("sizes", spoken(shares) + " % of the features");
  add("label-free", "defaults at " + chosen_share());
  add("k-means", concat(protocol_.repeats, " k-means++ starts, one Lloyd run each, with as many clusters as classes"));
  add("random", concat(protocol_.subsets, " subsets of each size"));
  add("graphs", concat(protocol_.neighbors, " neighbors"));
  if (protocol_.most_rows > 0) add("rows", concat("at most ", protocol_.most_rows, " per set, sampled with the seed"));
  for (const auto& axis : protocol_.axes) add(concat(axis.method, " ", axis.option), spoken(axis.values));
  add("Figure 2: beta", spoken(protocol_.figure2));
  return table;
}

}  // namespace reproduced

}  // namespace tamis
