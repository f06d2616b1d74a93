#include "tamis/data/formats/matrix_market.h"

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/formats/lines.h"
#include "tamis/data/formats/npy.h"
#include "tamis/data/formats/words.h"
#include "tamis/data/stores/csr.h"

namespace tamis {
namespace {

class MatrixMarketReader {
 public:
  MatrixMarketReader(ByteStream& bytes, bool transpose, Context& context)
      : bytes_(bytes),
        transpose_(transpose),
        context_(context),
        budget_(context, [this] { return concat(bytes_.where(), ": line ", lines_.line()); }),
        lines_(bytes, budget_, kMostLine) {}

  Source read() {
    read_banner();
    read_sizes();
    require_shape(bytes_.where(), transpose_ ? cols_ : rows_, transpose_ ? rows_ : cols_);
    return coordinate_ ? read_coordinates() : read_array();
  }

 private:
  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    fail(ErrorCode::bad_data, bytes_.where(), ": line ", lines_.line(), ": ", parts...);
  }

  void read_banner() {
    std::string_view line;
    require(lines_.next(line), ErrorCode::bad_data, bytes_.where(), ": empty file: 0 rows, need at least 2");
    if (lower_case(next_word(line)) != "%%matrixmarket" || lower_case(next_word(line)) != "matrix") {
      wrong("need %%MatrixMarket matrix ...");
    }
    const std::string layout = lower_case(next_word(line));
    const std::string field = lower_case(next_word(line));
    const std::string symmetry = lower_case(next_word(line));
    coordinate_ = layout == "coordinate";
    pattern_ = field == "pattern";
    skew_ = symmetry == "skew-symmetric";
    symmetric_ = symmetry == "symmetric" || skew_;
    if (!coordinate_ && layout != "array") wrong("layout ", in_quotes(layout), ", need coordinate or array");
    if (field != "real" && field != "double" && field != "integer" && !(pattern_ && coordinate_)) {
      wrong("field ", in_quotes(field), ", need real, integer or (with coordinate) pattern");
    }
    if (symmetry != "general" && !symmetric_) wrong("symmetry ", in_quotes(symmetry), ", need general or symmetric");
  }

  bool next_line(std::string_view& line) {
    while (lines_.next(line)) {
      if (!trimmed(line).empty() && line[0] != '%') return true;
    }
    return false;
  }

  void read_sizes() {
    std::string_view line;
    if (!next_line(line)) wrong("the file ends before the sizes");
    const std::string_view whole = line;
    const bool good = parse_index(next_word(line), rows_) && parse_index(next_word(line), cols_) &&
                      (!coordinate_ || parse_index(next_word(line), entries_)) && trimmed(line).empty();
    if (!good) wrong("sizes ", in_quotes(whole), ", need ", coordinate_ ? "rows columns entries" : "rows columns");
    if (symmetric_ && rows_ != cols_) wrong("a symmetric matrix of ", rows_, " x ", cols_);
  }

  // An entry takes at least 4 bytes ("1 1\n"), a value of an array 2: a count that promises more is a lie.
  void require_bytes(std::uint64_t count, std::uint64_t least) const {
    const auto left = bytes_.remaining();
    if (left && count > (*left + lines_.held()) / least + 1) {
      wrong("promises ", count, " values, more than the file can hold");
    }
  }

  Source read_coordinates() {
    const auto count = static_cast<std::uint64_t>(entries_);
    require_bytes(count, 4);
    require_sparse_shape(bytes_.where(), rows_, cols_, symmetric_ ? 2 * count : count, context_);
    CsrBuilder builder(budget_);
    if (bytes_.remaining()) builder.reserve(entries_ * (symmetric_ ? 2 : 1));
    std::string_view line;
    for (Index read = 0; read < entries_;) {
      read += read_plain_entries(entries_ - read, builder);
      if (read == entries_) break;
      if (!next_line(line)) wrong("the file ends after ", read, " of ", entries_, " entries");
      read_entry(line, builder);
      ++read;
    }
    if (next_line(line)) wrong("more than ", entries_, " entries");
    require_sparse_shape(bytes_.where(), rows_, cols_, builder.entries(), context_);  // without the zeros among them
    return to_source(builder.finish(transpose_ ? cols_ : rows_, transpose_ ? rows_ : cols_));
  }

  struct Entry {
    Index i = 0, j = 0;
    double value = 1.0;
  };

  // Entries as nearly all files have them, one a line and a blank between their numbers, straight from the buffer.
  // Stops at the first that is any different, or of which the buffer may not hold all; returns how many it took.
  Index read_plain_entries(Index most, CsrBuilder& builder) {
    const std::string_view text = lines_.ahead();
    const char* at = text.data();
    const char* const end = at + text.size();
    Entry entry;
    Index read = 0;
    for (; read < most; ++read) {
      const char* const next = take_entry(at, end, entry);
      if (next == nullptr) break;
      lines_.pass(next - at);
      add(entry, builder);
      at = next;
    }
    return read;
  }

  // Where the line after the entry begins; null where it is not plain.
  const char* take_entry(const char* at, const char* end, Entry& entry) const {
    const auto blank = [&] { return at != nullptr && at < end && (*at == ' ' || *at == '\t'); };
    at = parse_short_index(at, end, entry.i);
    if (!blank()) return nullptr;
    at = parse_short_index(at + 1, end, entry.j);
    if (!pattern_) {
      if (!blank()) return nullptr;
      at = parse_short_decimal(at + 1, end, entry.value);
    }
    if (at == nullptr || at == end || !is_inside(entry)) return nullptr;
    if (*at == '\r' && ++at == end) return nullptr;
    return *at == '\n' ? at + 1 : nullptr;
  }

  bool is_inside(const Entry& entry) const {
    return entry.i >= 1 && entry.i <= rows_ && entry.j >= 1 && entry.j <= cols_;
  }

  void add(const Entry& entry, CsrBuilder& builder) const {
    const Index row = (transpose_ ? entry.j : entry.i) - 1, col = (transpose_ ? entry.i : entry.j) - 1;
    builder.add(row, col, entry.value);
    if (symmetric_ && row != col) builder.add(col, row, skew_ ? -entry.value : entry.value);
  }

  void read_entry(std::string_view line, CsrBuilder& builder) {
    const std::string_view whole = line;
    Entry entry;
    if (!parse_index(next_word(line), entry.i) || !parse_index(next_word(line), entry.j)) {
      wrong(in_quotes(whole), ", need row column", pattern_ ? "" : " value");
    }
    if (!is_inside(entry)) {
      wrong("position ", entry.i, " ", entry.j, ", need 1..", rows_, " and 1..", cols_);
    }
    if (!pattern_) entry.value = read_value(next_word(line));
    if (!trimmed(line).empty()) wrong(in_quotes(whole), ", need row column", pattern_ ? "" : " value");
    add(entry, builder);
  }

  double read_value(std::string_view word) const {
    double value = 0.0;
    const NumberStatus status = parse_number(word, value);
    if (status != NumberStatus::ok) wrong(in_quotes(word), " is ", explain(status));
    return value;
  }

  Source read_array() {
    std::uint64_t count = 0;
    const bool fits =
        !__builtin_mul_overflow(static_cast<std::uint64_t>(rows_), static_cast<std::uint64_t>(cols_), &count) &&
        count < UINT64_MAX / sizeof(double);
    if (!fits) wrong(rows_, " x ", cols_, " is too large for any memory");
    require_bytes(symmetric_ ? count / 2 : count, 2);
    require_memory(context_, bytes_.where(), count * sizeof(double));
    auto buffer = std::make_shared<Buffer>(count * sizeof(double));
    fill_array(buffer->as<double>());
    std::string_view line;
    if (next_line(line)) wrong("more than ", count, " values");
    DenseView view;
    view.data = buffer->data();
    view.rows = transpose_ ? cols_ : rows_;
    view.cols = transpose_ ? rows_ : cols_;
    view.row_stride = transpose_ ? rows_ : 1;  // values stand column by column
    view.col_stride = transpose_ ? 1 : rows_;
    return Source(make_dense_store(view, buffer));
  }

  void fill_array(double* values) {
    std::string_view line;
    for (Index j = 0; j < cols_; ++j) {
      if (skew_) values[j * rows_ + j] = 0.0;
      for (Index i = symmetric_ ? j + (skew_ ? 1 : 0) : 0; i < rows_; ++i) {
        if (!next_line(line)) wrong("the file ends before column ", j, ", row ", i);
        values[j * rows_ + i] = read_value(trimmed(line));
      }
    }
    if (symmetric_) mirror(values);
  }

  // Once all values are there: a write to each row of the upper half would touch the memory of the whole array.
  void mirror(double* values) const {
    for (Index j = 0; j < cols_; ++j) {
      for (Index i = j + 1; i < rows_; ++i) {
        const double value = values[j * rows_ + i];
        values[i * rows_ + j] = skew_ ? -value : value;
      }
    }
  }

  ByteStream& bytes_;
  bool transpose_;
  Context& context_;
  Budget budget_;
  LineReader lines_;
  bool coordinate_ = true, pattern_ = false, symmetric_ = false, skew_ = false;
  Index rows_ = 0, cols_ = 0, entries_ = 0;
};

std::string first_existing(const std::string& folder, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::string path = folder + "/" + name;
    if (file_exists(path)) return path;
  }
  return "";
}

std::string matrix_path(const std::string& folder) { return first_existing(folder, {"matrix.mtx", "matrix.mtx.gz"}); }

// One field a line, tab-separated: the one at `field` where there is such a one, else the first.
std::vector<std::string> read_names(const std::string& path, std::size_t field, Index count, Context& context) {
  std::vector<std::string> names;
  if (path.empty()) return names;
  const auto bytes = open_text(path, context);
  Budget budget(context, bytes->where());
  LineReader lines(*bytes, budget, kMostLine);
  std::string_view line;
  while (lines.next(line)) {
    const std::string_view first = line.substr(0, line.find('\t'));
    std::string_view name = first;
    if (field == 1 && first.size() < line.size()) {
      const std::string_view rest = line.substr(first.size() + 1);
      name = rest.substr(0, rest.find('\t'));
    }
    require(static_cast<Index>(names.size()) < count, ErrorCode::bad_data, bytes->where(), ": more than ", count,
            " lines, the matrix has ", count);
    add_word(names, name.empty() ? first : name, budget);
  }
  require(static_cast<Index>(names.size()) == count, ErrorCode::bad_data, bytes->where(), ": ", names.size(),
          " lines, the matrix has ", count);
  return names;
}

}  // namespace

Source read_matrix_market(ByteStream& bytes, bool transpose, Context& context) {
  return MatrixMarketReader(bytes, transpose, context).read();
}

bool is_tenx_folder(const std::string& folder) { return !matrix_path(folder).empty(); }

Reading read_tenx(const std::string& folder, const ReadOptions& options, Context& context) {
  const auto bytes = open_text(matrix_path(folder), context);
  Reading reading;
  Table& table = reading.table;
  table.source = read_matrix_market(*bytes, !options.transpose, context);
  table.format = "10x";
  table.text = true;
  const Index genes = options.transpose ? table.source.rows() : table.source.cols();
  const Index cells = options.transpose ? table.source.cols() : table.source.rows();
  table.names = read_names(first_existing(folder, {"features.tsv", "features.tsv.gz", "genes.tsv", "genes.tsv.gz"}), 1,
                           genes, context);
  table.row_ids = read_names(first_existing(folder, {"barcodes.tsv", "barcodes.tsv.gz"}), 0, cells, context);
  if (options.transpose) std::swap(table.names, table.row_ids);
  return reading;
}

}  // namespace tamis
