#include "tamis/run/survey.h"

#include <algorithm>
#include <bit>
#include <deque>
#include <map>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/number.h"
#include "tamis/data/csv/blanks.h"
#include "tamis/data/csv/cells.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/csv_columns.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/run/sentinel.h"

namespace tamis {

namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// 2026-01-31, 31.01.2026, 1/31/26, each perhaps with a time after it; 12:30, 12:30:05.
bool is_date(std::string_view cell) {
  constexpr std::size_t kLongest = 40;
  if (cell.empty() || cell.size() > kLongest || !is_digit(cell[0])) return false;
  std::size_t at = 0, fields = 0;
  char between = 0;
  while (fields < 3) {
    const std::size_t from = at;
    while (at < cell.size() && is_digit(cell[at])) ++at;
    if (at == from || at - from > 4) return false;
    if (++fields == 3 || at == cell.size()) break;
    const char mark = cell[at];
    if (std::string_view("-/.:").find(mark) == std::string_view::npos || (between != 0 && mark != between)) break;
    between = mark, ++at;
  }
  if (fields < (between == ':' ? 2 : 3)) return false;
  const std::string_view rest = cell.substr(at);
  return rest.empty() || (rest.find_first_not_of("0123456789:.TZ+- AMPamp") == std::string_view::npos &&
                          (between == ':' || rest[0] == ' ' || rest[0] == 'T'));
}

// 192.168.100.101 is no number of nearly 2e11.
bool is_address(std::string_view cell) {
  return std::count(cell.begin(), cell.end(), '.') == 3 &&
         cell.find_first_not_of("0123456789.") == std::string_view::npos;
}

// 64 bits that depend on every cell and on their order.
void mix(std::uint64_t& hash, std::uint64_t bits) {
  hash = (hash ^ bits) * 0x9E3779B97F4A7C15U;
  hash ^= hash >> 29U;
}

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

// Whether any of many words came twice: 64 bits of each are held, and looked through whenever they have doubled.
class Words {
 public:
  // True where one was found to come twice; then nothing is held any more.
  bool add(std::uint64_t bits, Budget& budget) {
    grow(words_, 1, budget);
    words_.push_back(bits);
    if (words_.size() < next_look_ || !repeat()) return false;
    budget.give_back(words_.capacity() * sizeof(std::uint64_t));
    words_ = {};
    return true;
  }
  bool repeat() {
    std::sort(words_.begin(), words_.end());
    next_look_ = 2 * words_.size();
    return std::adjacent_find(words_.begin(), words_.end()) != words_.end();
  }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t next_look_ = 16;
};

// The ends of the numbers of a column, how often each occurs and what comes next to it.
class Ends {
 public:
  void add(double value) {
    if (value < low_) {
      next_low_ = low_, low_ = value, lows_ = 1;
    } else {
      lows_ += value == low_ ? 1 : 0;
      if (value > low_) next_low_ = std::min(next_low_, value);
    }
    if (value > high_) {
      next_high_ = high_, high_ = value, highs_ = 1;
    } else {
      highs_ += value == high_ ? 1 : 0;
      if (value < high_) next_high_ = std::max(next_high_, value);
    }
  }
  double low() const { return low_; }
  // An end, and the others.
  std::pair<double, Rest> lowest() const { return {low_, {next_low_, high_, lows_}}; }
  std::pair<double, Rest> highest() const { return {high_, {low_, next_high_, highs_}}; }

 private:
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low_ = kInfinity, high_ = -kInfinity, next_low_ = kInfinity, next_high_ = -kInfinity;
  Index lows_ = 0, highs_ = 0;
};

// What is known of one column while rows pass by. What is missing is what it has not seen, so that a row costs no more
// than its cells.
class ColumnSurveyor {
 public:
  void add_number(double value, Index row) {
    if (is_sentinel(value))
      ++sentinels_[value];
    else
      ends_.add(value);
    course_.add(value);
    for (Index first : {0, 1}) counts_from_[first] = counts_from_[first] && value == static_cast<double>(row + first);
    ++numbers_;
    see(std::bit_cast<std::uint64_t>(value + 0.0), row);
  }

  void add_text(std::string_view cell, Index line, Budget& budget) {
    if (is_missing(cell)) {
      if (blanks_++ == 0) found_.missing_as = cell;
      return;
    }
    dates_ += is_date(cell) ? 1 : 0;
    answers_ += is_boolean(cell) ? 1 : 0;
    like_numbers_ += begins_like_number(cell) ? 1 : 0;
    if (found_.not_numbers++ == 0) found_.example = cell.substr(0, 80), found_.example_line = line;
    const std::uint64_t bits = hash_of(cell);
    repeats_ = repeats_ || words_.add(bits, budget);
    see(bits, line);
  }

  // The same of what is a number for a reader who knows how it is written.
  void add_marked(CellKind kind, std::string_view cell, Index line, Budget& budget) {
    if (kind == CellKind::thousands && found_.grouped++ == 0) found_.thousands = thousands_word(cell);
    marked_ = true;
    add_text(cell, line, budget);
  }

  SurveyedColumn finish(Index rows, const std::string& name) {
    found_.name = name;
    const Index values = numbers_ + found_.not_numbers;
    const bool numbers = values > 0 && found_.not_numbers == 0;
    const bool readable = values > 0 && found_.not_numbers == found_.grouped;
    found_.content = values == 0          ? Content::empty
                     : readable           ? Content::number
                     : dates_ == values   ? Content::date
                     : answers_ == values ? Content::yes_no
                                          : Content::text;
    found_.missing = rows - values;
    repeats_ = repeats_ || words_.repeat();
    found_.constant = values > 0 && same_;
    found_.counts_rows = numbers && numbers_ == rows && rows > 1 && (counts_from_[0] || counts_from_[1]);
    found_.rises = numbers && numbers_ == rows && course_.is_index(name);
    found_.falls = found_.rises && !course_.rises();
    found_.may_be_index = numbers && numbers_ == rows && course_.whole() && ends_.low() >= 0.0;
    // 12 ms and (3.5) are numbers with something around them.
    const bool names_rows = like_numbers_ < values || is_id_like(name);
    found_.distinct = found_.content == Content::text && numbers_ == 0 && !repeats_ && !marked_ && values == rows &&
                      rows > 1 && names_rows;
    if (numbers) find_sentinel();
    return found_;
  }

  std::uint64_t hash() const { return hash_; }

 private:
  // `place`: of the row or line, so that what is missing moves what follows.
  void see(std::uint64_t bits, Index place) {
    if (numbers_ + found_.not_numbers == 1) first_ = bits;
    same_ = same_ && bits == first_;
    mix(hash_, (bits + 1) ^ ((static_cast<std::uint64_t>(place) + 1) * 0xD1B54A32D192ED03U));
  }

  void find_sentinel() {
    const auto [low, above] = ends_.lowest();
    const auto [high, below] = ends_.highest();
    for (const auto& [value, count] : sentinels_) {
      const Rest rest{low, high, count};
      if (rest.makes_sentinel(value) && count > found_.sentinels) found_.sentinel = value, found_.sentinels = count;
    }
    if (found_.sentinels == 0 && above.makes_sentinel(low)) found_.sentinel = low, found_.sentinels = above.found;
    if (found_.sentinels == 0 && below.makes_sentinel(high)) found_.sentinel = high, found_.sentinels = below.found;
  }

  SurveyedColumn found_;
  Index numbers_ = 0, dates_ = 0, answers_ = 0, like_numbers_ = 0;
  bool same_ = true, repeats_ = false, marked_ = false;
  bool counts_from_[2] = {true, true};
  std::uint64_t first_ = 0, hash_ = 0;
  Words words_;
  Index blanks_ = 0;
  std::map<double, Index> sentinels_;
  Ends ends_;
  Course course_;
};

class TextSurveyor {
 public:
  TextSurveyor(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context)
      : scanner_(bytes), context_(context), budget_(context, bytes.where()), first_(budget_) {
    scanner_.skip_lines(options.skip);
    layout_ = scanner_.layout(delimiter, options.header != ReadOptions::Header::no);
    parser_.emplace(layout_.delimiter, options.thousands);
    found_.delimiter = layout_.delimiter;
    found_.row_names = layout_.row_names;
    scanner_.skip_blank_lines();
    first_line_ = scanner_.line();
    read_first_line(scanner_, layout_, first_);
    found_.header = is_header(first_, layout_, options.header);
  }

  Survey run() {
    width_ = first_.size() - layout_.trailing;
    budget_.take(width_ * sizeof(ColumnSurveyor));
    if (!found_.header && width_ > 0) {
      for (Index j = 0; j < width_; ++j) add(j, first_.cell(j), first_line_);
      ++found_.rows;
    }
    for (;;) {
      scanner_.skip_blank_lines();
      if (scanner_.at_end()) break;
      if (scanner_.skip_comment(first_.size()) || (first_.size() > 1 && scanner_.skip_blank_row())) continue;
      read_row();
    }
    finish();
    return std::move(found_);
  }

 private:
  // Made for its first cell.
  ColumnSurveyor& column(Index j) {
    while (j >= static_cast<Index>(columns_.size())) columns_.emplace_back();
    return columns_[j];
  }

  void add(Index j, std::string_view text, Index line) {
    double value = 0.0;
    const CellKind kind = parser_->parse(text, value);
    if (kind == CellKind::number) {
      column(j).add_number(value, found_.rows);
    } else if ((kind == CellKind::thousands && !is_address(trimmed(text))) || kind == CellKind::percent ||
               kind == CellKind::currency) {
      column(j).add_marked(kind, trimmed(text), line, budget_);
    } else {
      column(j).add_text(trimmed(text), line, budget_);
    }
  }

  void read_row() {
    constexpr Index kRowsBetweenChecks = 1024;
    if (found_.rows % kRowsBetweenChecks == 0) context_.check_cancelled();
    const Index line = scanner_.line();
    Index j = 0;
    do {
      double value = 0.0;
      std::string_view text;
      const bool number = scanner_.number(value, text);
      if (!number) text = scanner_.cell().text;
      if (j < width_ && number && parser_->reads_plainly(text)) {
        column(j).add_number(value, found_.rows);
      } else if (j < width_) {
        add(j, text, line);
      }
      ++j;
    } while (!scanner_.row_ended());
    if (j != first_.size() && found_.ragged++ == 0) found_.ragged_line = line;
    ++found_.rows;
  }

  // A few columns may have a name and no cell; millions of them are a mistake that would take gigabytes.
  void require_cells() {
    constexpr Index kMostWithout = 1 << 16;
    const auto most = static_cast<Index>(columns_.size());
    require(width_ - most <= kMostWithout, ErrorCode::bad_data, scanner_.where(), ": line ", first_line_, ": ", width_,
            " columns, but no row has more than ", most, most == 1 ? " cell" : " cells");
    columns_.resize(width_);
  }

  void finish() {
    require_cells();
    std::map<std::uint64_t, Index> seen;
    for (Index j = 0; j < width_; ++j) {
      SurveyedColumn column =
          columns_[j].finish(found_.rows, found_.header ? std::string(first_.cell(j)) : std::to_string(j));
      const auto [place, is_new] = seen.emplace(columns_[j].hash(), j);
      if (!is_new && column.content != Content::empty && !column.constant) column.copy_of = place->second;
      found_.columns.push_back(std::move(column));
    }
  }

  CsvScanner scanner_;
  Context& context_;
  Budget budget_;
  CsvLayout layout_;
  std::optional<CellParser> parser_;
  FirstLine first_;
  Index first_line_ = 1, width_ = 0;
  std::deque<ColumnSurveyor> columns_;  // those that had a cell
  Survey found_;
};

}  // namespace

const char* name_of(Content content) {
  switch (content) {
    case Content::number: return "number";
    case Content::text: return "text";
    case Content::date: return "date";
    case Content::yes_no: return "yes/no";
    case Content::empty: break;
  }
  return "empty";
}

bool holds_numbers(const SurveyedColumn& column) {
  return column.content == Content::number || column.content == Content::yes_no;
}

bool names_rows_by_itself(const Survey& survey) {
  if (survey.row_names) return true;
  if (!survey.header || survey.columns.size() < 2 || !trimmed(survey.columns[0].name).empty()) return false;
  const SurveyedColumn& first = survey.columns[0];
  return first.counts_rows || first.content == Content::text || first.content == Content::date;
}

bool has_shuffled_index(const Survey& survey) {
  const auto& columns = survey.columns;
  const bool unnamed = survey.header && columns.size() > 1 && trimmed(columns[0].name).empty();
  return unnamed && !names_rows_by_itself(survey) && columns[0].may_be_index &&
         std::none_of(columns.begin(), columns.end(), [](const auto& column) { return column.name == "0"; });
}

Index column_of_names(const Survey& survey) {
  const auto& columns = survey.columns;
  if (names_rows_by_itself(survey) || has_shuffled_index(survey)) return 0;
  const auto found = std::find_if(columns.begin(), columns.end(), [](const auto& column) { return column.distinct; });
  return found == columns.end() ? -1 : found - columns.begin();
}

std::vector<Index> columns_to_exclude(const Survey& survey) {
  std::vector<Index> out;
  for (std::size_t j = 0; j < survey.columns.size(); ++j) {
    if (!holds_numbers(survey.columns[j])) out.push_back(static_cast<Index>(j));
  }
  return out;
}

std::optional<Survey> survey_text(const std::string& path, const ReadOptions& options, Context& context) {
  const auto delimiter = delimiter_of_text(path, options);
  if (!delimiter || options.transpose) return std::nullopt;
  const Stage stage(context, "describing the columns");
  const auto bytes = open_csv_text(path, options, context);
  const TableText text = open_table_text(*bytes, *delimiter, options.skip);
  return TextSurveyor(*text.bytes, text.delimiter, options, context).run();
}

}  // namespace tamis
