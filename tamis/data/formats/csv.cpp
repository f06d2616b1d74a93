#include "tamis/data/formats/csv.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/csv/blanks.h"
#include "tamis/data/csv/cells.h"
#include "tamis/data/csv/complaints.h"
#include "tamis/data/csv/layout.h"
#include "tamis/data/formats/csv_columns.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/data/formats/npy.h"
#include "tamis/data/formats/words.h"

namespace tamis {
namespace {

bool has_invisible(std::string_view name) {
  // Zero-width space, non-joiner and joiner, word joiner, byte-order mark, no-break space.
  constexpr std::string_view kInvisible[] = {"\xE2\x80\x8B", "\xE2\x80\x8C", "\xE2\x80\x8D",
                                             "\xE2\x81\xA0", "\xEF\xBB\xBF", "\xC2\xA0"};
  return std::any_of(std::begin(kInvisible), std::end(kInvisible),
                     [&](std::string_view one) { return name.find(one) != std::string_view::npos; });
}

class CsvReader {
 public:
  CsvReader(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context,
            std::optional<Index> begins_at)
      : bytes_(bytes),
        rows_before_(begins_at.value_or(0)),
        alone_(!begins_at),
        asked_(delimiter),
        scanner_(bytes),
        options_(options),
        context_(context),
        budget_(context, [this] { return concat(bytes_.where(), ": line ", scanner_.line()); }),
        first_(budget_) {
    scanner_.skip_lines(options.skip);
    layout_ = scanner_.layout(delimiter, options.header != ReadOptions::Header::no);
    delimiter_ = layout_.delimiter;
    parser_.emplace(delimiter_, options.thousands);
  }

  Reading read() {
    read_head();
    CsvColumns columns(bytes_.where(), first_, header_, options_);
    apply_layout(columns);
    columns_ = &columns;
    for (std::size_t k = 0; k < columns.labels.size(); ++k) label_builders_.emplace_back(budget_);
    width_ = std::count_if(columns.kinds.begin(), columns.kinds.end(), [](auto k) { return k != ColumnKind::text; });
    is_text_.assign(columns.kinds.size(), false);
    if (!header_ && first_.size() > 0) take_first_line_as_row();
    while (!complaints_.enough() && next_row()) read_row();
    complain();
    return finish();
  }

 private:
  struct Doubtful {
    Index column = 0, line = 0;  // line 0: none yet
    std::string cell;
  };

  template <class... Parts>
  [[noreturn]] void wrong(Index line, const Parts&... parts) const {
    fail(ErrorCode::bad_data, bytes_.where(), ": line ", line, parts...);
  }

  void read_head() {
    scanner_.skip_blank_lines();
    first_number_ = scanner_.line();
    read_first_line(scanner_, layout_, first_);
    header_ = is_header(first_, layout_, options_.header);
    if (header_ && options_.header == ReadOptions::Header::automatic && has_fractions(first_, delimiter_)) {
      context_.warn(message(bytes_.where(), ": line 1 is taken as the names of columns though it has numbers (",
                            Flag{"header", "no"}, ")"));
    }
  }

  // What the first lines say about the first and the last column.
  void apply_layout(CsvColumns& columns) {
    if (!layout_.skipped_text.empty()) {
      std::string text = layout_.skipped_text;
      std::replace(text.begin(), text.end(), '\t', ' ');
      const Index last = first_number_ - 1;
      notes_.push_back(concat(bytes_.where(), ": ", last == 1 ? "line 1 stands" : concat("lines 1..", last, " stand"),
                              " above the table and ", last == 1 ? "is" : "are", " skipped: ", in_quotes(text),
                              last == 1 ? "" : ", ..."));
    }
    if (layout_.row_names && columns.kinds[0] == ColumnKind::number) {
      columns.kinds[0] = ColumnKind::text;
      if (columns.id < 0) columns.id = 0;
      notes_.push_back(concat(bytes_.where(),
                              ": the rows have one cell more than the header, as R writes them, so the ",
                              "first column names the rows"));
      row_names_ = columns.id == 0;
    }
    if (layout_.names_of_numbers && options_.header == ReadOptions::Header::automatic &&
        !looks_like_header(first_, delimiter_)) {
      notes_.push_back(concat(bytes_.where(), ": line ", first_number_, ' ',
                              first_.cell(0).empty() ? "begins with a blank cell above an index"
                                                     : "has its numbers in quotes, unlike the rows",
                              ", so it is taken as the names of columns"));
    }
    if (layout_.unit_lines > 0) {
      const bool one = layout_.unit_lines == 1;
      notes_.push_back(concat(bytes_.where(), one ? ": line " : ": lines ", first_number_ + 1,
                              one ? "" : concat("..", first_number_ + layout_.unit_lines), one ? " holds" : " hold",
                              " no numbers, unlike the rows below ", one ? "it, and is" : "them, and are",
                              " skipped: ", in_quotes(layout_.units), one ? "" : ", ..."));
    }
    take_index_of_text(columns);
    trailing_ = first_.size() - layout_.trailing;
    for (Index j = trailing_; j < first_.size(); ++j) {
      if (columns.kinds[j] == ColumnKind::number) columns.kinds[j] = ColumnKind::number_or_text;
    }
    if (layout_.trailing > 1) {
      notes_.push_back(concat(bytes_.where(), ": the last ", layout_.trailing,
                              " columns have neither names nor values and are left out"));
    }
  }

  // The index that pandas writes where it is text or dates: a first column without a name.
  void take_index_of_text(CsvColumns& columns) {
    const bool unnamed = header_ && first_.size() > 1 && trimmed(first_.cell(0)).empty();
    if (!unnamed || layout_.row_names || columns.id >= 0 || columns.kinds[0] != ColumnKind::number) return;
    const std::string_view cell = scanner_.peeked_cell();
    if (is_missing(cell) || is_boolean(cell) || reads_as_number(cell, delimiter_)) return;
    columns.kinds[0] = ColumnKind::text;
    columns.id = 0;
    notes_.push_back(concat(bytes_.where(), ": the first column has no name and holds text (", in_quotes(cell),
                            ", ...), so it names the rows and is no feature"));
  }

  // Passes the blank lines at the end of the file; false there.
  bool next_row() {
    for (;;) {
      const Index line = scanner_.line();
      const Index blanks = scanner_.skip_blank_lines();
      if (scanner_.at_end()) return false;
      const Index here = scanner_.line();
      if (scanner_.skip_comment(first_.size())) {
        if (comments_++ == 0) first_comment_ = here;
        continue;
      }
      if (first_.size() > 1 && scanner_.skip_blank_row()) {
        if (blank_rows_++ == 0) first_blank_row_ = here;
        continue;
      }
      if (blanks > 0) wrong(line, ": a blank line between rows; remove it, or what stands below the table");
      return true;
    }
  }

  double* add_row() {
    const std::size_t row_bytes = width_ * sizeof(double);
    const std::size_t needed = values_bytes_ + row_bytes;
    if (needed > values_.size()) make_room(needed);
    double* row = values_.as<double>() + values_bytes_ / sizeof(double);
    values_bytes_ = needed;
    context_.rows_read(++rows_);
    return row;
  }

  // By an eighth, since what is taken for numbers is not left for names and labels.
  void make_room(std::size_t needed) {
    constexpr std::size_t kFirst = std::size_t{1} << 20;
    const std::size_t before = values_.size();
    const std::size_t more = std::min<std::uint64_t>(std::max(before / 8, kFirst), budget_.left());
    const std::size_t after = std::max(needed, before + more);
    budget_.take(after - before);
    values_.resize(after);
  }

  void read_row() {
    const Index last = first_.size() - 1;
    double* to = add_row();
    const ColumnKind* kinds = columns_->kinds.data();
    for (Index j = 0;; ++j) {
      double value = 0.0;
      std::string_view text;
      if (kinds[j] != ColumnKind::number || !scanner_.number(value, text)) {
        const Index line = scanner_.line();
        take_cell(j, line, scanner_.cell().text, to);
      } else if (parser_->reads_plainly(text)) {
        *to++ = value;
      } else {
        take_cell(j, scanner_.line() - (scanner_.row_ended() ? 1 : 0), text, to);
      }
      if (j == last || scanner_.row_ended()) {
        if (j < last || !scanner_.row_ended()) ragged(j);
        complaints_.end_row();
        if (names_again_ > 0) require_no_header();
        return;
      }
    }
  }

  // A row that says what the header says, as where several exports were put together.
  void require_no_header() {
    if (header_ && names_again_ == first_.size()) {
      wrong(scanner_.line() - 1, ": the header again; remove the lines that repeat it");
    }
    names_again_ = 0;
  }

  [[noreturn]] void ragged(Index j) {
    const Index cells = first_.size();
    if (scanner_.row_ended()) {
      wrong(scanner_.line() - 1, ": ", j + 1, j == 0 ? " cell" : " cells", ", need ", cells, " as in line ",
            first_number_);
    }
    wrong(scanner_.line(), ": more than ", cells, cells == 1 ? " cell" : " cells", ", need ", cells, " as in line ",
          first_number_);
  }

  void take_first_line_as_row() {
    double* to = add_row();
    for (Index j = 0; j < first_.size(); ++j) take_cell(j, first_number_, first_.cell(j), to);
    complaints_.end_row();
  }

  // A cell that is not plainly a number of a column of numbers.
  void take_cell(Index j, Index line, std::string_view cell, double*& to) {
    const ColumnKind column = columns_->kinds[j];
    if (column == ColumnKind::text) return take_text(j, cell);
    double value = 0.0;
    const CellKind kind = parser_->parse(cell, value);
    *to++ = value;
    doubt_decimal(j, line, cell, kind);
    if (j >= trailing_) {
      is_text_[j] = true;
      if (kind != CellKind::missing) complaints_.add(j, line, CellKind::beyond_end, trimmed(cell));
    } else if (kind == CellKind::number) {
    } else if (column == ColumnKind::number_or_text) {
      is_text_[j] = is_text_[j] || kind != CellKind::boolean;
    } else if (kind == CellKind::boolean) {
      booleans_.try_emplace(j, line, std::string(cell));
    } else if (kind == CellKind::missing) {
      complaints_.add_missing(j, line, trimmed(cell));
    } else {
      complaints_.add(j, line, kind, trimmed(cell));
    }
    names_again_ += cell == first_.cell(j) ? 1 : 0;
  }

  void take_text(Index j, std::string_view cell) {
    if (j == columns_->id) add_word(ids_, cell, budget_);
    names_again_ += cell == first_.cell(j) ? 1 : 0;
    for (std::size_t k = 0; k < label_builders_.size(); ++k) {
      if (columns_->labels[k].first == j) label_builders_[k].add(trimmed(cell));
    }
  }

  // Remembers numbers like 1,234 and 1.234 until another one tells what their signs mean.
  void doubt_decimal(Index j, Index line, std::string_view cell, CellKind kind) {
    if (parser_->decimal() != '?') {
      if (comma_.line + point_.line > 0) take_back_doubts();
      return;
    }
    if (kind != CellKind::number || columns_->kinds[j] != ColumnKind::number) return;
    const bool comma = cell.find(',') != std::string_view::npos;
    if (!comma && cell.find('.') == std::string_view::npos) return;
    Doubtful& first = comma ? comma_ : point_;
    if (first.line == 0) first = {j, line, std::string(trimmed(cell))};
    if (!comma) ++pointed_[j];
  }

  // What was read with the other sign has thousands.
  void take_back_doubts() {
    const Doubtful other = std::exchange(parser_->decimal() == ',' ? point_ : comma_, {});
    if (other.line > 0) complaints_.add(other.column, other.line, CellKind::thousands, other.cell);
    comma_ = point_ = {};
    pointed_.clear();
  }

  // Everything that is wrong with the cells, in one message.
  void complain() {
    for (const auto& [j, first] : booleans_) {
      if (!is_zero_or_one(j)) complaints_.add(j, first.first, CellKind::boolean_among_numbers, trimmed(first.second));
    }
    if (first_.size() == 1) complaints_.cut_nowhere(asked_);
    complaints_.raise(bytes_.where(), options_.missing == Missing::refuse, rows_, width_,
                      [this](Index j) { return column_name(j); });
    if (comma_.line > 0 && point_.line > 0) refuse_two_signs();
    if (comma_.line > 0) refuse_doubtful(comma_, ',', message(", as all numbers with a comma here"));
    if (point_.line > 0) look_at_points();
  }

  [[noreturn]] void refuse_doubtful(const Doubtful& first, char sign, const Message& why) const {
    std::string plain = first.cell;
    std::erase(plain, sign);
    const std::string_view other = sign == ',' ? "." : ",";
    wrong(first.line, ", column ", column_name(first.column), ": ", in_quotes(first.cell),
          " may have decimals or thousands", why, "; ", Flag{"thousands", std::string(1, sign)}, " reads it as ",
          printable(plain), ", ", Flag{"thousands", std::string(other)}, " as decimals");
  }

  [[noreturn]] void refuse_two_signs() const {
    const auto [first, second] = point_.line <= comma_.line ? std::pair(point_, comma_) : std::pair(comma_, point_);
    wrong(first.line, ", column ", column_name(first.column), ": ", in_quotes(first.cell), ", and ",
          in_quotes(second.cell), " in column ", column_name(second.column),
          ": one has decimals, the other thousands; ", Flag{"thousands", "."}, " or ", Flag{"thousands", ","},
          " says which");
  }

  // Every number with a point is like 1.234. Programs that drop zeros at the end would hardly write 1.234 and 987 below
  // each other without a 1.23; those that write three decimals would write 987.000.
  void look_at_points() const {
    constexpr Index kFewest = 3;  // numbers
    Index count = 0;
    for (const auto& [j, cells] : pointed_) {
      count += cells;
      if (const double whole = plain_whole_number(j, cells); whole != 0.0) {
        refuse_doubtful(point_, '.',
                        message(", as all numbers with a point here, and column ", column_name(j),
                                " has whole numbers without one, as ", number_text(whole)));
      }
    }
    if (delimiter_ != ';' || count < kFewest) return;
    context_.warn(message(bytes_.where(), ": every number with a point is like ", in_quotes(point_.cell),
                          " and is read with decimals; ", Flag{"thousands", "."}, " if these are thousands"));
  }

  // A whole number but 0 among the numbers with a point of a column; 0 where there is none.
  double plain_whole_number(Index column, Index pointed) const {
    const Index j = place_among_numbers(column);
    const double* values = values_.as<double>();
    Index others = -pointed;
    double whole = 0.0;
    for (Index i = 0; i < rows_; ++i) {
      const double value = values[i * width_ + j];
      if (value == 0.0 || std::isnan(value)) continue;
      ++others;
      if (value == std::floor(value)) whole = value;
    }
    return others > 0 ? whole : 0.0;
  }

  Index place_among_numbers(Index column) const {
    const auto begin = columns_->kinds.begin();
    return column - std::count(begin, begin + static_cast<std::ptrdiff_t>(column), ColumnKind::text);
  }

  bool is_zero_or_one(Index column) const {
    const Index j = place_among_numbers(column);
    const double* values = values_.as<double>();
    for (Index i = 0; i < rows_; ++i) {
      const double value = values[i * width_ + j];
      if (value != 0.0 && value != 1.0 && !std::isnan(value)) return false;
    }
    return true;
  }

  std::string column_name(Index j) const {
    return header_ && !first_.cell(j).empty() ? printable(first_.cell(j)) : std::to_string(j);
  }

  Reading finish() {
    Reading reading;
    Table& table = reading.table;
    table.notes = std::move(notes_);
    table.format = "csv";
    table.text = true;
    require_table();
    check_row_names();
    warn_of_names_of_numbers();
    warn_of_totals();
    note_what_is_not_seen(table);
    take_index(table);
    for (Index j = 0; j < first_.size(); ++j) place_column(j, table);
    if (table.excluded_columns.empty() || options_.transpose) table.columns.clear();
    const bool labels_missing = columns_->labels.size() < options_.labels.size();
    if (labels_missing && !options_.transpose && header_) {
      for (Index j = 0; j < first_.size(); ++j) add_word(reading.label_choices, first_.cell(j), budget_);
    }
    for (std::size_t k = 0; k < label_builders_.size(); ++k) {
      table.labels[columns_->labels[k].second] = label_builders_[k].finish();
    }
    table.row_ids = std::move(ids_);
    table.source = make_source();
    if (options_.transpose) std::swap(table.names, table.row_ids);
    return reading;
  }

  // Those of R are all different.
  void check_row_names() {
    if (!row_names_) return;
    const char* cure = delimiter_ == ',' ? " (numbers with decimal commas need quotes, or another delimiter)" : "";
    budget_.take(ids_.size() * sizeof(std::string_view));
    std::vector<std::string_view> names(ids_.begin(), ids_.end());
    std::sort(names.begin(), names.end());
    const auto twice = std::adjacent_find(names.begin(), names.end());
    budget_.give_back(ids_.size() * sizeof(std::string_view));
    require(twice == names.end(), ErrorCode::bad_data, bytes_.where(),
            ": the rows have one cell more than the header, but their first cells do not name them, since several are ",
            in_quotes(twice == names.end() ? "" : *twice), cure);
    if (!layout_.split_decimals) return;
    context_.warn(message(
        bytes_.where(), ": the rows have one cell more than the header, and may be numbers with decimal ",
        "commas cut in two, which need quotes or another delimiter; they are read as rows that begin ", "with a name"));
  }

  // Where the first column counts the rows from; nothing where it does not.
  std::optional<Index> counts_from() const {
    const double* values = values_.as<double>();
    for (const Index first : {Index{0}, Index{1}, rows_before_, rows_before_ + 1}) {
      Index i = 0;
      while (i < rows_ && values[i * width_] == static_cast<double>(first + i)) ++i;
      if (i == rows_) return first;
    }
    return std::nullopt;
  }

  // The index that pandas and R write: a first column without a name that counts the rows.
  void take_index(Table& table) {
    const bool unnamed = header_ && first_.size() > 1 && trimmed(first_.cell(0)).empty();
    if (!unnamed || columns_->id >= 0 || columns_->kinds[0] != ColumnKind::number) return;
    const auto first = counts_from();
    if (!first) return warn_of_index();
    is_text_[0] = true;
    for (Index i = 0; i < rows_; ++i) add_word(ids_, std::to_string(*first + i), budget_);
    table.notes.push_back(concat(bytes_.where(), ": the first column has no name and counts the rows (", *first, "..",
                                 *first + rows_ - 1, "), so it names them and is no feature"));
  }

  // An index that was shuffled or put together from several. It stays, since it may as well be measured.
  void warn_of_index() const {
    const double* values = values_.as<double>();
    bool rises = true, falls = true;  // which run/doubts.h warns of
    for (Index i = 0; i < rows_; ++i) {
      const double value = values[i * width_];
      if (!(value >= 0.0) || value != std::floor(value)) return;
      rises = rises && (i == 0 || value > values[(i - 1) * width_]);
      falls = falls && (i == 0 || value < values[(i - 1) * width_]);
    }
    if (rises || falls) return;
    Index named_so = 0;
    while (named_so < first_.size() && first_.cell(named_so) != "0") ++named_so;
    const Message cure = named_so < first_.size()
                             ? Message(" unless it is given a name to be left out by")
                             : message("; ", Flag{"id", "0"}, " takes it as the names of the rows");
    context_.warn(message(bytes_.where(), ": the first column has no name and holds whole numbers (",
                          number_text(values[0]), ", ", number_text(values[width_]),
                          ", ...), as an index does; it is read as a feature", cure));
  }

  // A last row that sums up the others.
  void warn_of_totals() const {
    if (ids_.empty()) return;
    const std::string last = lower_case(trimmed(ids_.back()));
    constexpr const char* kWords[] = {"total",  "totals", "grand total", "sum",   "mean",      "average",
                                      "gesamt", "summe",  "moyenne",     "somme", "mittelwert"};
    if (std::none_of(std::begin(kWords), std::end(kWords), [&](const char* word) { return last == word; })) return;
    context_.warn(message(bytes_.where(), ": the last row is named ", in_quotes(ids_.back()),
                          " and is taken as a row like the others; remove it if it sums them up"));
  }

  void note_what_is_not_seen(Table& table) const {
    if (comments_ > 0) {
      table.notes.push_back(concat(bytes_.where(), ": ", comments_,
                                   comments_ == 1 ? " line that begins" : " lines that begin", " with # ",
                                   comments_ == 1 ? "is" : "are", " skipped, first line ", first_comment_));
    }
    if (blank_rows_ > 0) {
      table.notes.push_back(concat(bytes_.where(), ": ", blank_rows_,
                                   blank_rows_ == 1 ? " row of blank cells is" : " rows of blank cells are",
                                   " skipped, first line ", first_blank_row_));
    }
    std::string positions;
    for (Index j = 0; header_ && j < first_.size(); ++j) {
      if (has_invisible(first_.cell(j))) positions += concat(positions.empty() ? "" : ", ", j);
    }
    if (positions.empty()) return;
    table.notes.push_back(concat(bytes_.where(),
                                 ": names with zero-width or no-break spaces, which are not seen: columns ", positions,
                                 " (options also take the position)"));
  }

  void warn_of_names_of_numbers() const {
    if (header_ || options_.header != ReadOptions::Header::automatic || rows_ < 2) return;
    constexpr Index kCompared = 16;
    if (!looks_like_names(values_.as<double>(), width_, std::min(rows_, kCompared + 1))) return;
    context_.warn(message(bytes_.where(), ": line ", first_number_, " (", first_.cell(0),
                          delimiter_ == '\t' ? ' ' : delimiter_, first_.cell(1),
                          "...) is read as numbers but looks like the names of columns; ", Flag{"header", "yes"},
                          " takes it as names, ", Flag{"header", "no"}, " as numbers"));
  }

  void place_column(Index j, Table& table) {
    const ColumnKind kind = columns_->kinds[j];
    const bool out = kind == ColumnKind::text || is_text_[j];
    if (out) {
      add_word(table.excluded_columns, header_ ? std::string(first_.cell(j)) : std::to_string(j), budget_);
    } else {
      grow(table.columns, 1, budget_);
      table.columns.push_back(j);
      if (header_) add_word(table.names, first_.cell(j), budget_);
    }
    if (kind != ColumnKind::text) keep_.push_back(!out);
  }

  void require_table() const {
    const Index rows = options_.transpose ? width_ : rows_, cols = options_.transpose ? rows_ : width_;
    require_shape(bytes_.where(), rows == 1 && !alone_ ? 2 : rows, cols);  // the others have more
  }

  // Moves the kept columns together where a column turned out to be text.
  void drop_text_columns() {
    const auto kept = std::count(keep_.begin(), keep_.end(), true);
    if (kept == width_) return;
    double* values = values_.as<double>();
    double* to = values;
    for (Index i = 0; i < rows_; ++i) {
      for (Index j = 0; j < width_; ++j) {
        if (keep_[j]) *to++ = values[i * width_ + j];
      }
    }
    width_ = kept;
  }

  Source make_source() {
    drop_text_columns();
    require_table();
    values_.resize((rows_ * width_) * sizeof(double));
    auto buffer = std::make_shared<Buffer>(std::move(values_));
    DenseView view;
    view.data = buffer->data();
    view.rows = rows_;
    view.cols = width_;
    view.row_stride = width_;
    if (options_.transpose) {
      std::swap(view.rows, view.cols);
      std::swap(view.row_stride, view.col_stride);
    }
    return Source(make_dense_store(view, buffer));
  }

  ByteStream& bytes_;
  Index rows_before_;  // of the table, in other files
  bool alone_;         // there are no other files
  char asked_;         // the delimiter that the name of the file says; 0: none
  CsvScanner scanner_;
  const ReadOptions& options_;
  Context& context_;
  Budget budget_;
  CsvLayout layout_;
  char delimiter_ = ',';
  Index trailing_ = 0;              // from here on, columns without names and values
  std::vector<std::string> notes_;  // on the layout
  std::optional<CellParser> parser_;
  Complaints complaints_;
  std::map<Index, std::pair<Index, std::string>> booleans_;  // the first TRUE or FALSE of a column, and its line
  Doubtful comma_, point_;          // the first number like 1,234 or 1.234 before another one decided
  std::map<Index, Index> pointed_;  // numbers like 1.234 of a column
  bool row_names_ = false;          // R's, found by themselves
  bool header_ = false;
  FirstLine first_;
  Index first_number_ = 1;  // its line
  const CsvColumns* columns_ = nullptr;
  std::vector<LabelBuilder> label_builders_;
  std::vector<std::string> ids_;
  std::vector<bool> is_text_;  // of columns that may be either, and of an index
  std::vector<bool> keep_;     // of columns that have values
  Buffer values_;              // rows of width_ numbers
  std::size_t values_bytes_ = 0;
  Index width_ = 0;
  Index rows_ = 0;
  Index names_again_ = 0;  // cells of this row that say what the header says
  Index comments_ = 0, first_comment_ = 0;
  Index blank_rows_ = 0, first_blank_row_ = 0;
};

}  // namespace

Reading read_csv(ByteStream& bytes, char delimiter, const ReadOptions& options, Context& context,
                 std::optional<Index> begins_at) {
  const TableText text = open_table_text(bytes, delimiter, options.skip);
  return CsvReader(*text.bytes, text.delimiter, options, context, begins_at).read();
}

}  // namespace tamis
