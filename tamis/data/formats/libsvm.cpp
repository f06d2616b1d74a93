#include "tamis/data/formats/libsvm.h"

#include <algorithm>
#include <limits>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/formats/lines.h"
#include "tamis/data/formats/npy.h"
#include "tamis/data/labels.h"
#include "tamis/data/stores/csr.h"

namespace tamis {
namespace {

constexpr const char* kLabel = "label";

class LibsvmReader {
 public:
  LibsvmReader(ByteStream& bytes, const ReadOptions& options, Context& context)
      : bytes_(bytes),
        options_(options),
        context_(context),
        budget_(context, [this] { return concat(bytes_.where(), ": line ", lines_.line()); }),
        lines_(bytes, budget_, kMostRow),
        builder_(budget_),
        labels_(budget_) {
    // A column of a file that is transposed is not one label a row.
    const auto& names = options.labels;
    wants_labels_ = !options.transpose && std::find(names.begin(), names.end(), kLabel) != names.end();
  }

  Reading read() {
    std::string_view line;
    while (lines_.next(line)) {
      line = line.substr(0, line.find('#'));
      if (trimmed(line).empty()) continue;
      read_row(line);
    }
    return finish();
  }

 private:
  template <class... Parts>
  [[noreturn]] void wrong(const Parts&... parts) const {
    fail(ErrorCode::bad_data, bytes_.where(), ": line ", lines_.line(), ": ", parts...);
  }

  void read_row(std::string_view line) {
    read_label(next_word(line));
    Index last = 0;
    for (;;) {
      const std::string_view pair = next_word(line);
      if (pair.empty()) break;
      last = read_pair(pair, last);
    }
    cols_ = std::max(cols_, last);
    context_.rows_read(rows_ + 1);
    if (++rows_ == std::numeric_limits<std::int32_t>::max()) wrong("more than 2147483646 rows");
  }

  // A number, or several with commas where a row has several labels.
  void read_label(std::string_view word) {
    std::string_view rest = word;
    for (;;) {
      double value = 0.0;
      const std::string_view one = rest.substr(0, rest.find(','));
      if (parse_number(one, value) != NumberStatus::ok) {
        wrong("label ", in_quotes(word), " is not a number; need: label index:value ...");
      }
      if (one.size() == rest.size()) break;
      rest.remove_prefix(one.size() + 1);
    }
    if (wants_labels_) labels_.add(word);
  }

  Index read_pair(std::string_view pair, Index last) {
    const std::size_t colon = pair.find(':');
    if (colon == std::string_view::npos) wrong(in_quotes(pair), ", need index:value");
    const std::string_view word = pair.substr(0, colon);
    if (word == "qid") wrong("qid is not read: remove it");
    Index index = 0;
    if (!parse_index(word, index) || index >= std::numeric_limits<std::int32_t>::max()) {
      wrong("index ", in_quotes(word), ", need 1..2147483646");
    }
    if (index < 1) wrong("index 0, indices start from 1");
    if (index <= last) wrong("index ", index, " after ", last, ", indices must increase");
    double value = 0.0;
    const NumberStatus status = parse_number(pair.substr(colon + 1), value);
    if (status != NumberStatus::ok)
      wrong("feature ", index, ": ", in_quotes(pair.substr(colon + 1)), " is ", explain(status));
    builder_.add(rows_, index - 1, value);
    return index;
  }

  Reading finish() {
    const Index n = options_.transpose ? cols_ : rows_;
    const Index d = options_.transpose ? rows_ : cols_;
    require_shape(bytes_.where(), n, d);
    require_sparse_shape(bytes_.where(), rows_, cols_, builder_.entries(), context_);
    Reading reading;
    reading.table.format = "libsvm";
    reading.table.text = true;
    reading.label_choices = {kLabel};
    if (wants_labels_) reading.table.labels[kLabel] = labels_.finish();
    Csr<double> csr = builder_.finish(rows_, cols_);
    reading.table.source = options_.transpose ? to_source(csr.transposed()) : to_source(std::move(csr));
    return reading;
  }

  ByteStream& bytes_;
  const ReadOptions& options_;
  Context& context_;
  Budget budget_;
  LineReader lines_;
  CsrBuilder builder_;
  LabelBuilder labels_;
  bool wants_labels_ = false;
  Index rows_ = 0, cols_ = 0;
};

}  // namespace

Reading read_libsvm(ByteStream& bytes, const ReadOptions& options, Context& context) {
  return LibsvmReader(bytes, options, context).read();
}

}  // namespace tamis
