#include "tamis/data/csv/layout.h"

#include <algorithm>
#include <array>
#include <vector>

#include "tamis/base/text/number.h"
#include "tamis/data/csv/cells.h"

namespace tamis {
namespace {

// A comma may be a decimal sign between semicolons, and bars may stand in names, so among equals they come last.
constexpr std::array<char, 4> kDelimiters = {'\t', ';', ',', '|'};

// A line with anything but spaces in it.
struct SeenLine {
  std::string_view text;
  std::size_t begin = 0;  // in the start
  Index number = 0;       // lines before it
};

std::vector<SeenLine> first_lines(std::string_view start, bool complete) {
  constexpr std::size_t kLines = 20;
  std::vector<SeenLine> lines;
  std::size_t begin = 0;
  Index number = 0, passed = 0;  // passed: line ends since the line began, in quotes or not
  bool within_quotes = false;
  const auto add = [&](std::size_t end) {
    const std::string_view text = start.substr(begin, end - begin);
    if (text.find_first_not_of(' ') != std::string_view::npos) lines.push_back({text, begin, number});
  };
  for (std::size_t i = 0; i < start.size() && lines.size() < kLines; ++i) {
    const char c = start[i];
    if (c == '"') within_quotes = !within_quotes;
    if (c != '\n' && c != '\r') continue;
    const bool pair = c == '\r' && i + 1 < start.size() && start[i + 1] == '\n';
    ++passed;
    if (!within_quotes) {
      add(i);
      begin = i + (pair ? 2 : 1);
      number += passed;
      passed = 0;
    }
    i += pair ? 1 : 0;
  }
  if (lines.size() < kLines && begin < start.size() && (complete || lines.empty())) add(start.size());
  return lines;
}

std::size_t count_outside_quotes(std::string_view text, char delimiter) {
  std::size_t count = 0;
  bool within_quotes = false;
  for (const char c : text) {
    if (c == '"') within_quotes = !within_quotes;
    count += !within_quotes && c == delimiter ? 1 : 0;
  }
  return count;
}

Index count_filled(const Cells& cells) {
  return std::count_if(cells.begin(), cells.end(), [](auto cell) { return !cell.empty(); });
}

// Names of columns, and no number among them.
bool names_only(const Cells& cells, char delimiter) {
  return count_filled(cells) > 0 && std::none_of(cells.begin(), cells.end(), [&](std::string_view cell) {
           return reads_as_number(cell, delimiter);
         });
}

// Numbers or missing values but for the first cell, which may name the row.
bool numbers_but_first(const Cells& cells, char delimiter) {
  return std::all_of(cells.begin() + 1, cells.end(), [&](std::string_view cell) {
    return is_missing(cell) || is_boolean(cell) || reads_as_number(cell, delimiter);
  });
}

// Which cells of a line stand in quotes.
std::vector<bool> quoted_cells(std::string_view text, char delimiter) {
  std::vector<bool> quoted;
  bool within_quotes = false, begun = false;
  for (const char c : text) {
    if (!begun && c != ' ') quoted.push_back(c == '"'), begun = true;
    if (c == '"') within_quotes = !within_quotes;
    if (!within_quotes && c == delimiter) begun = false;
  }
  if (!begun) quoted.push_back(false);
  return quoted;
}

// 05, 007: seldom a number, often the decimals of one.
bool begins_with_zeros(std::string_view cell) {
  return cell.size() > 1 && cell[0] == '0' && cell.find_first_not_of("0123456789") == std::string_view::npos;
}

// "sep=;" names the delimiter; 0 for any other line.
char announced_delimiter(std::string_view line) {
  if (line == "sep=\t" || line == "SEP=\t") return '\t';
  line = trimmed(line);
  if (line.size() > 1 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  return line.size() == 5 && (line.starts_with("sep=") || line.starts_with("SEP=")) ? line[4] : '\0';
}

class LayoutFinder {
 public:
  LayoutFinder(std::vector<SeenLine> lines, char delimiter, bool header_allowed)
      : lines_(std::move(lines)), header_allowed_(header_allowed) {
    layout_.delimiter = delimiter;
    if (lines_.empty()) {
      layout_.delimiter = delimiter != 0 ? delimiter : ',';
      return;
    }
    if (const char announced = announced_delimiter(lines_[0].text); announced != 0) {
      layout_.delimiter = announced;
      first_ = 1;
    } else if (delimiter == 0) {
      layout_.delimiter = choose_delimiter();
    }
    for (const SeenLine& line : lines_) counts_.push_back(count_outside_quotes(line.text, layout_.delimiter));
  }

  CsvLayout find() {
    if (lines_.empty()) return layout_;
    const std::size_t announced = first_;
    skip_comments();
    skip_titles();
    skip_padded_titles();
    if (first_ < lines_.size()) {
      layout_.skipped_bytes = first_ > 0 ? lines_[first_].begin : 0;
      layout_.skipped_lines = first_ > 0 ? lines_[first_].number : 0;
      if (first_ > announced) layout_.skipped_text = trimmed(lines_[announced].text);
      layout_.names_of_numbers = header_allowed_ && (quoted_above_numbers() || blank_above_an_index());
      look_at_ends();
      if (layout_.row_names) layout_.split_decimals = looks_split();
      look_for_units();
    }
    return layout_;
  }

 private:
  // How many of the last lines have as many delimiters as the last one; 0 where that has none.
  std::size_t even_lines(char delimiter) const {
    std::size_t run = 0;
    const std::size_t last = count_outside_quotes(lines_.back().text, delimiter);
    while (last > 0 && run < lines_.size() &&
           count_outside_quotes(lines_[lines_.size() - 1 - run].text, delimiter) == last) {
      ++run;
    }
    return run;
  }

  char choose_delimiter() const {
    char best = 0;
    std::size_t most = 1;  // more than one line must agree, unless there is but one
    for (const char delimiter : kDelimiters) {
      const std::size_t run = even_lines(delimiter);
      if (run == lines_.size()) return delimiter;
      if (run > most) {
        best = delimiter;
        most = run;
      }
    }
    if (best != 0) return best;
    return *std::max_element(kDelimiters.begin(), kDelimiters.end(), [&](char a, char b) {
      return count_outside_quotes(lines_[0].text, a) < count_outside_quotes(lines_[0].text, b);
    });
  }

  Cells cells(std::size_t i) const { return cells_of(lines_[i].text, layout_.delimiter); }
  bool is_header(std::size_t i) const {
    return header_allowed_ && (names_only(cells(i), layout_.delimiter) || (i == first_ && layout_.names_of_numbers));
  }

  // Lines that begin with #, unless the last of them names the columns.
  void skip_comments() {
    std::size_t after = first_;
    while (after < lines_.size() && lines_[after].text.starts_with('#')) ++after;
    if (after == first_ || after == lines_.size()) return;
    const bool names = counts_[after - 1] == counts_[after] && !is_header(after);
    first_ = names ? after - 1 : after;
  }

  // Lines with fewer cells than the header below them, which all further lines have.
  void skip_titles() {
    std::size_t begin = lines_.size() - 1;
    while (begin > first_ && counts_[begin - 1] == counts_.back()) --begin;
    if (begin == first_ || begin + 1 >= lines_.size() || counts_.back() == 0) return;
    const bool short_header = counts_[begin - 1] + 1 == counts_.back() && is_header(begin - 1) && !is_header(begin);
    const std::size_t header = short_header ? begin - 1 : begin;
    if (!is_header(header)) return;
    for (std::size_t i = first_; i < header; ++i) {
      const bool logger = i == 0 && lines_[i].text.starts_with("\"TOA5\",");  // of Campbell
      if ((counts_[i] >= counts_.back() && !logger) || reads_as_number(cells(i)[0], layout_.delimiter)) return;
    }
    first_ = header;
  }

  // "Report,,,": a line of one cell, with the delimiters of the table, above its header.
  void skip_padded_titles() {
    std::size_t header = first_;
    while (header + 2 < lines_.size() && counts_[header] >= 2 && counts_[header] == counts_[header + 1] &&
           count_filled(cells(header)) <= 1 && (count_filled(cells(header)) == 0 || is_header(header))) {
      ++header;
    }
    if (header > first_ && is_header(header) && count_filled(cells(header)) > 1) first_ = header;
  }

  // "5243","1956" above numbers without quotes, as R writes a header, perhaps beside row names in quotes.
  bool quoted_above_numbers() const {
    const std::vector<bool> names = quoted_cells(lines_[first_].text, layout_.delimiter);
    if (first_ + 1 >= lines_.size() || std::find(names.begin(), names.end(), false) != names.end()) return false;
    for (std::size_t i = first_ + 1; i < lines_.size(); ++i) {
      const std::vector<bool> quoted = quoted_cells(lines_[i].text, layout_.delimiter);
      const bool names_row = quoted.size() > 1 && quoted[0];
      if (std::find(quoted.begin() + (names_row ? 1 : 0), quoted.end(), true) != quoted.end()) return false;
      if (!numbers_but_first(cells(i), layout_.delimiter)) return false;
    }
    return true;
  }

  // ",1990,1991,1992" above rows that begin with 0, 1, 2, ..., as pandas writes columns that are named by numbers.
  bool blank_above_an_index() const {
    const Cells names = cells(first_);
    if (names.size() < 2 || !names[0].empty() || first_ + 2 >= lines_.size()) return false;
    const auto is_name = [&](std::string_view cell) { return reads_as_number(cell, layout_.delimiter); };
    if (!std::all_of(names.begin() + 1, names.end(), is_name)) return false;
    for (std::size_t k = 2; k < names.size(); ++k) {
      if (std::find(names.begin() + 1, names.begin() + k, names[k]) != names.begin() + k) return false;
    }
    bool counts[2] = {true, true}, words = true;
    for (std::size_t i = first_ + 1; i < lines_.size(); ++i) {
      const std::string_view cell = cells(i)[0];
      if (counts_[i] != counts_[first_] || cell.empty()) return false;
      words = words && !is_missing(cell) && !reads_as_number(cell, layout_.delimiter);
      for (const std::size_t from : {0, 1})
        counts[from] = counts[from] && cell == std::to_string(i - first_ - 1 + from);
    }
    return words || counts[0] || counts[1];
  }

  // Decimal commas between cells that commas separate, too: "20,15" below "temp" has a cell more than the header, as
  // the rows of R have. Row names that are numbers rise there, and no number begins with 0.
  bool looks_split() const {
    if (layout_.delimiter != ',') return false;
    bool numbers = true, zeros = false, rise = true;
    double last = -1.0;
    for (std::size_t i = first_ + 1; i < lines_.size(); ++i) {
      if (lines_[i].text.find('"') != std::string_view::npos) return false;
      const Cells row = cells(i);
      double name = 0.0;
      numbers = numbers && parse_number(row[0], name, '.') == NumberStatus::ok;
      rise = rise && name > last;
      last = name;
      zeros = zeros || std::any_of(row.begin() + 1, row.end(), begins_with_zeros);
    }
    return zeros || (numbers && !rise) || is_id_like(cells(first_)[0]);
  }

  // R's header without a name for the first column, and delimiters at the end of every line.
  void look_at_ends() {
    const std::size_t rows = first_ + 1;
    if (rows >= lines_.size()) return;
    const std::size_t count = counts_[rows];
    const bool even = std::all_of(counts_.begin() + static_cast<std::ptrdiff_t>(rows), counts_.end(),
                                  [&](std::size_t one) { return one == count; });
    if (!even || count == 0) return;
    Index blank_ends = static_cast<Index>(count);
    bool numbers = true;
    for (std::size_t i = rows; i < lines_.size(); ++i) {
      const Cells row = cells(i);
      blank_ends = std::min(blank_ends, blanks_at_end(row));
      numbers = numbers && numbers_but_first(row, layout_.delimiter);
    }
    const bool equal = counts_[first_] == count;
    const bool shorter = counts_[first_] + 1 == count && header_allowed_;
    if (equal) layout_.trailing = std::min(blank_ends, blanks_at_end(cells(first_)));
    if (shorter && is_header(first_)) layout_.trailing = std::min<Index>(blank_ends, 1);
    layout_.header_short = layout_.trailing > 0 && shorter;
    layout_.row_names = layout_.trailing == 0 && shorter && is_header(first_) && numbers;
  }

  static Index blanks_at_end(const Cells& row) {
    const auto filled = std::find_if(row.rbegin(), row.rend(), [](std::string_view cell) { return !cell.empty(); });
    return filled - row.rbegin();
  }

  // "degC,l/min,kN" between the header and the rows: words, and numbers below each. Loggers write two such lines.
  void look_for_units() {
    constexpr std::size_t kMost = 2;
    if (!is_header(first_)) return;
    std::size_t last = std::min(first_ + kMost, lines_.size() - 1);
    while (last > first_ && !holds_units(last)) --last;
    for (std::size_t i = first_ + 1; i < last; ++i) {
      if (!is_header(i) || counts_[i] != counts_[first_]) return;
    }
    if (last == first_) return;
    layout_.units = trimmed(lines_[first_ + 1].text);
    layout_.unit_lines = static_cast<Index>(last - first_);
  }

  bool holds_units(std::size_t line) const {
    const auto lines = static_cast<Index>(line - first_);
    if (line + 1 >= lines_.size() || !is_header(line) || counts_[line] != counts_[first_] ||
        lines_[line].number != lines_[first_].number + lines) {
      return false;
    }
    const Cells words = cells(line);
    bool found = false;
    for (std::size_t j = 0; j < words.size(); ++j) {
      if (is_missing(words[j])) continue;
      if (is_boolean(words[j])) return false;
      if (numbers_below(line, j)) {
        found = true;
      } else if (begins_like_number(words[j]) || !figures_below(line, j)) {
        return false;  // a row, in which numbers may be missing
      }
    }
    return found;
  }

  bool numbers_below(std::size_t line, std::size_t column) const {
    bool any = false;
    return all_below(line, column,
                     [&](auto cell) {
                       const bool number = reads_as_number(cell, layout_.delimiter);
                       any = any || number;
                       return number || is_missing(cell);
                     }) &&
           any;
  }
  // Dates and times.
  bool figures_below(std::size_t line, std::size_t column) const {
    return all_below(line, column, [](auto cell) { return begins_like_number(cell); });
  }

  template <class Is>
  bool all_below(std::size_t line, std::size_t column, Is is) const {
    for (std::size_t i = line + 1; i < lines_.size(); ++i) {
      const Cells row = cells(i);
      if (column >= row.size() || !is(row[column])) return false;
    }
    return true;
  }

  std::vector<SeenLine> lines_;
  std::vector<std::size_t> counts_;  // of delimiters
  std::size_t first_ = 0;            // line of the table
  bool header_allowed_;
  CsvLayout layout_;
};

}  // namespace

Cells cells_of(std::string_view text, char delimiter) {
  Cells cells;
  bool within_quotes = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '"') within_quotes = !within_quotes;
    if (i < text.size() && (within_quotes || text[i] != delimiter)) continue;
    std::string_view cell = trimmed(text.substr(begin, i - begin));
    if (cell.size() > 1 && cell.front() == '"' && cell.back() == '"') cell = trimmed(cell.substr(1, cell.size() - 2));
    cells.push_back(cell);
    begin = i + 1;
  }
  return cells;
}

CsvLayout find_layout(std::string_view start, bool complete, char delimiter, bool header_allowed) {
  return LayoutFinder(first_lines(start, complete), delimiter, header_allowed).find();
}

}  // namespace tamis
