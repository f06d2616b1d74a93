#include "tamis/run/survey.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_set>

#include "tamis/base/memory.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/csv_columns.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/run/sentinel.h"

namespace tamis {

namespace {

bool is_one_of(std::string_view cell, std::initializer_list<std::string_view> words) {
  const std::string word = lower_case(cell);
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool stands_for_missing(std::string_view cell) {
  return cell.empty() || is_one_of(cell, {"na", "n/a", "#n/a", "nan", "null", "none", "nil", "-", "--", "?", ".",
                                          "#div/0!", "#value!", "#ref!", "#name?", "#num!", "missing"});
}

bool is_yes_or_no(std::string_view cell) { return is_one_of(cell, {"true", "false", "yes", "no", "t", "f", "y", "n"}); }

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

// 64 bits that depend on every cell and on their order.
void mix(std::uint64_t& hash, std::uint64_t bits) {
  hash = (hash ^ bits) * 0x9E3779B97F4A7C15U;
  hash ^= hash >> 29U;
}

std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }

// What is known of one column while rows pass by.
class ColumnSurveyor {
 public:
  void add_number(double value, Index row) {
    if (is_sentinel(value))
      ++sentinels_[value];
    else
      rest_.add(value);
    const bool whole = value == std::floor(value);
    rises_ = rises_ && whole && (numbers_ == 0 || value > last_);
    for (Index first : {0, 1}) counts_from_[first] = counts_from_[first] && value == static_cast<double>(row + first);
    last_ = value;
    ++numbers_;
    see(std::bit_cast<std::uint64_t>(value + 0.0));
  }

  void add_text(std::string_view cell, Index line, Budget& budget) {
    if (stands_for_missing(cell)) {
      if (found_.missing++ == 0) found_.missing_as = cell;
      mix(hash_, 0);
      return;
    }
    dates_ += is_date(cell) ? 1 : 0;
    answers_ += is_yes_or_no(cell) ? 1 : 0;
    if (found_.not_numbers++ == 0) found_.example = cell.substr(0, 80), found_.example_line = line;
    const std::uint64_t bits = hash_of(cell);
    if (repeats_ || !words_.insert(bits).second) {
      repeats_ = true, words_.clear();
    } else {
      budget.take(4 * sizeof(std::uint64_t));
    }
    see(bits);
  }

  SurveyedColumn finish(Index rows) {
    constexpr Index kFewest = 8;  // rows; fewer are often in order by chance
    const Index values = numbers_ + found_.not_numbers;
    const bool numbers = values > 0 && found_.not_numbers == 0;
    found_.content = values == 0          ? Content::empty
                     : numbers            ? Content::number
                     : dates_ == values   ? Content::date
                     : answers_ == values ? Content::yes_no
                                          : Content::text;
    found_.constant = values > 0 && same_;
    found_.counts_rows = numbers && numbers_ == rows && rows > 1 && (counts_from_[0] || counts_from_[1]);
    found_.rises = numbers && numbers_ == rows && rises_ && rows >= kFewest;
    found_.distinct = found_.content == Content::text && numbers_ == 0 && !repeats_ && values == rows && rows > 1;
    if (numbers) find_sentinel();
    return found_;
  }

  std::uint64_t hash() const { return hash_; }

 private:
  void see(std::uint64_t bits) {
    if (numbers_ + found_.not_numbers == 1) first_ = bits;
    same_ = same_ && bits == first_;
    mix(hash_, bits + 1);
  }

  void find_sentinel() {
    for (const auto& [value, count] : sentinels_) {
      if (rest_.leaves_apart(value) && count > found_.sentinels) found_.sentinel = value, found_.sentinels = count;
    }
  }

  SurveyedColumn found_;
  Index numbers_ = 0, dates_ = 0, answers_ = 0;
  double last_ = 0.0;
  bool rises_ = true, same_ = true, repeats_ = false;
  bool counts_from_[2] = {true, true};
  std::uint64_t first_ = 0, hash_ = 0;
  std::unordered_set<std::uint64_t> words_;
  std::map<double, Index> sentinels_;
  Rest rest_;
};

class TextSurveyor {
 public:
  TextSurveyor(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context)
      : scanner_(bytes), context_(context), budget_(context, bytes.where()), first_(budget_) {
    found_.delimiter = delimiter != 0 ? delimiter : scanner_.sniff_delimiter();
    scanner_.set_delimiter(found_.delimiter);
    read_first_line(options);
  }

  Survey run() {
    columns_.resize(static_cast<std::size_t>(first_.size()));
    budget_.take(columns_.size() * sizeof(ColumnSurveyor));
    if (!found_.header && first_.size() > 0) {
      for (Index j = 0; j < first_.size(); ++j) add(j, first_.cell(j), first_line_);
      ++found_.rows;
    }
    for (;;) {
      scanner_.skip_blank_lines();
      if (scanner_.at_end()) break;
      read_row();
    }
    finish();
    return std::move(found_);
  }

 private:
  void read_first_line(const ReadOptions& options) {
    scanner_.skip_blank_lines();
    first_line_ = scanner_.line();
    while (!scanner_.at_end()) {
      first_.add(scanner_.cell().text);
      if (scanner_.row_ended()) break;
    }
    using enum ReadOptions::Header;
    found_.header =
        options.header == yes || (options.header == automatic && looks_like_header(first_, found_.delimiter));
  }

  // With a decimal comma where semicolons stand between cells.
  void add(Index j, std::string_view text, Index line) {
    const std::string_view cell = trimmed(text);
    double value = 0.0;
    const bool number = parse_number(cell, value) == NumberStatus::ok ||
                        (found_.delimiter == ';' && parse_number(cell, value, ',') == NumberStatus::ok);
    if (number) {
      columns_[j].add_number(value, found_.rows);
    } else {
      columns_[j].add_text(cell, line, budget_);
    }
  }

  void read_row() {
    constexpr Index kRowsBetweenChecks = 1024;
    if (found_.rows % kRowsBetweenChecks == 0) context_.check_cancelled();
    const Index line = scanner_.line(), width = first_.size();
    Index j = 0;
    do {
      double value = 0.0;
      if (found_.delimiter != ';' && scanner_.number(value)) {
        if (j < width) columns_[j].add_number(value, found_.rows);
      } else {
        const CsvCell cell = scanner_.cell();
        if (j < width) add(j, cell.text, line);
      }
      ++j;
    } while (!scanner_.row_ended());
    if (j != width && found_.ragged++ == 0) found_.ragged_line = line;
    for (; j < width; ++j) columns_[j].add_text({}, line, budget_);
    ++found_.rows;
  }

  void finish() {
    std::map<std::uint64_t, Index> seen;
    for (Index j = 0; j < first_.size(); ++j) {
      SurveyedColumn column = columns_[j].finish(found_.rows);
      column.name = found_.header ? std::string(first_.cell(j)) : std::to_string(j);
      const auto [place, is_new] = seen.emplace(columns_[j].hash(), j);
      if (!is_new && column.content != Content::empty && !column.constant) column.copy_of = place->second;
      found_.columns.push_back(std::move(column));
    }
  }

  CsvScanner scanner_;
  Context& context_;
  Budget budget_;
  FirstLine first_;
  Index first_line_ = 1;
  std::vector<ColumnSurveyor> columns_;
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

Index column_of_names(const Survey& survey) {
  const auto& columns = survey.columns;
  if (survey.header && !columns.empty() && columns[0].name.empty() && columns[0].counts_rows) return 0;
  const auto found = std::find_if(columns.begin(), columns.end(), [](const auto& column) { return column.distinct; });
  return found == columns.end() ? -1 : found - columns.begin();
}

std::vector<Index> columns_to_exclude(const Survey& survey) {
  std::vector<Index> out;
  for (std::size_t j = 0; j < survey.columns.size(); ++j) {
    if (survey.columns[j].content != Content::number) out.push_back(static_cast<Index>(j));
  }
  return out;
}

std::optional<Survey> survey_text(const std::string& path, const ReadOptions& options, Context& context) {
  const auto delimiter = delimiter_of_text(path);
  if (!delimiter || options.transpose) return std::nullopt;
  return TextSurveyor(*open_text(path, context), *delimiter, options, context).run();
}

}  // namespace tamis
