#include "tamis/data/joined.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/nearest.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/csv/layout.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/data/labels.h"

namespace tamis {

namespace {

// Two columns of a CSV text: identifiers and labels.
struct TwoColumns {
  std::vector<std::string> ids, labels;
};

class TwoColumnReader {
 public:
  TwoColumnReader(ByteStream& bytes, Budget& budget) : scanner_(bytes), budget_(budget) {
    const CsvLayout layout = scanner_.layout(bytes.where().ends_with(".tsv") ? '\t' : 0, true);
    if (layout.skipped_lines == 1) {
      for (const std::string_view cell : cells_of(layout.skipped_text, layout.delimiter)) above_.emplace_back(cell);
    }
    scanner_.skip_blank_lines();
    names_ = next_row();
  }

  TwoColumns read(const std::string& id_column, const std::string& label_column) {
    std::vector<std::string> first = row_below_short_header(label_column);
    const std::size_t label = position(label_column);
    const auto same = std::find(names_.begin(), names_.end(), id_column);
    const std::size_t id = same == names_.end() ? 0 : same - names_.begin();
    TwoColumns found;
    for (;;) {
      if (first.empty()) scanner_.skip_blank_lines();
      if (first.empty() && scanner_.at_end()) return found;
      const Index line = scanner_.line();
      const std::vector<std::string> row = first.empty() ? next_row() : std::exchange(first, {});
      // R writes row names under no name.
      const std::size_t shift = row.size() == names_.size() + 1 ? 1 : 0;
      require(row.size() == names_.size() + shift, ErrorCode::bad_data, scanner_.where(), ": line ", line, ": ",
              row.size(), " cells, need ", names_.size(), " as in the first line");
      const std::size_t id_cell = shift > 0 && same == names_.end() ? 0 : id + shift;
      add_word(found.ids, row[id_cell], budget_);
      add_word(found.labels, row[label + shift], budget_);
    }
  }

 private:
  // R's header without a name for the first column looks like a title where there are only words below it. What was
  // taken for the header is the first row then.
  std::vector<std::string> row_below_short_header(const std::string& label_column) {
    const auto has = [&](const std::vector<std::string>& names) {
      return std::find(names.begin(), names.end(), label_column) != names.end();
    };
    if (above_.size() + 1 != names_.size() || has(names_) || !has(above_)) return {};
    return std::exchange(names_, above_);
  }

  std::vector<std::string> next_row() {
    std::vector<std::string> cells;
    while (!scanner_.at_end()) {
      cells.emplace_back(trimmed(scanner_.cell().text));
      if (scanner_.row_ended()) break;
    }
    return cells;
  }

  std::size_t position(const std::string& name) const {
    const auto count = std::count(names_.begin(), names_.end(), name);
    require(count > 0, ErrorCode::usage, scanner_.where(), ": no column '", printable(name), "' for the labels",
            did_you_mean(name, names_), "; it has ", listed(names_));
    require(count == 1, ErrorCode::usage, scanner_.where(), ": ", count, " columns are named '", printable(name),
            "', need one");
    return std::find(names_.begin(), names_.end(), name) - names_.begin();
  }

  CsvScanner scanner_;
  Budget& budget_;
  std::vector<std::string> names_, above_;  // the header, and the line that was skipped above it
};

// "3 of 60 rows ...: 'a', 'b', 'c'"
class Examples {
 public:
  void add(const std::string& id) {
    constexpr std::size_t kShown = 3;
    if (count_++ < static_cast<Index>(kShown)) text_ += concat(text_.empty() ? "'" : ", '", printable(id), "'");
  }
  Index count() const { return count_; }
  std::string text() const { return text_ + (count_ > 3 ? ", ..." : ""); }

 private:
  Index count_ = 0;
  std::string text_;
};

using Places = std::unordered_map<std::string, std::size_t>;

// The place of each identifier.
Places places_of(const std::vector<std::string>& ids, const std::string& where) {
  Places places;
  Examples repeated;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!places.emplace(ids[i], i).second) repeated.add(ids[i]);
  }
  require(repeated.count() == 0, ErrorCode::bad_data, where, ": ", repeated.count(), " of ", ids.size(),
          " row identifiers are repeated: ", repeated.text(), "; need each once");
  return places;
}

}  // namespace

std::optional<ColumnOfFile> column_of_file(const std::string& spec) {
  const std::size_t colon = spec.rfind(':');
  if (colon == std::string::npos || colon == 0 || file_exists(spec)) return std::nullopt;
  const std::string path = spec.substr(0, colon);
  if (!file_exists(path) || file_kind(path) == FileKind::folder) return std::nullopt;
  return ColumnOfFile{path, spec.substr(colon + 1)};
}

Labels read_joined_labels(const ColumnOfFile& from, const std::string& id_column,
                          const std::vector<std::string>& row_ids, Context& context) {
  const std::string where = printable(from.path, from.path.size());
  require(!row_ids.empty(), ErrorCode::usage, "labels ", where, ":", printable(from.column),
          ": the rows have no identifiers to join by; name their column with ", Flag{"id", "COLUMN"});
  const auto bytes = open_text(from.path, context);
  Budget budget(context, where);
  const TwoColumns other = TwoColumnReader(*bytes, budget).read(id_column, from.column);
  places_of(row_ids, "labels " + where + ": of the table");
  const Places places = places_of(other.ids, where);
  LabelBuilder labels(budget);
  Examples missing;
  for (const auto& id : row_ids) {
    const auto found = places.find(std::string(trimmed(id)));
    if (found == places.end()) missing.add(id);
    labels.add(found == places.end() ? std::string_view() : std::string_view(other.labels[found->second]));
  }
  require(missing.count() == 0, ErrorCode::bad_data, where, ": ", missing.count(), " of ", row_ids.size(),
          " rows are missing: ", missing.text(), "; need every row identifier");
  return labels.finish();
}

}  // namespace tamis
