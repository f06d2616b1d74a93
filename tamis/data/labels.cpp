#include "tamis/data/labels.h"

#include <algorithm>

#include "tamis/base/error.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tamis/data/formats/npy.h"

namespace tamis {
namespace {

bool is_unlabelled(const std::string& word) {
  double value = 0.0;
  return word.empty() || (parse_number(word, value) == NumberStatus::ok && value == -1.0);
}

struct Word {
  std::string name;
  double value = 0.0;
  int position = 0;  // among the distinct words
};

// The lines of a label file, of which the first may turn out to be a header.
class LabelLines {
 public:
  explicit LabelLines(Budget& budget) : after_first_(budget) {}

  void add(std::string_view word) {
    if (size_++ == 0) {
      first_ = word;
    } else {
      after_first_.add(word);
    }
  }
  void add_blank(Index count) {
    for (Index i = 0; i < count; ++i) add({});
  }
  Index size() const { return size_; }

  Labels finish(bool header) {
    if (header) return after_first_.finish();
    after_first_.add(first_);
    Labels labels = after_first_.finish();
    std::rotate(labels.classes.begin(), labels.classes.end() - 1, labels.classes.end());
    return labels;
  }

 private:
  Index size_ = 0;
  std::string first_;
  LabelBuilder after_first_;
};

}  // namespace

void LabelBuilder::add(std::string_view word) {
  grow(words_, 1, *budget_);
  words_.push_back(distinct_.add(word));
}

Labels LabelBuilder::finish() const {
  const std::deque<std::string>& distinct = distinct_.words();
  std::vector<Word> words;
  bool numbers = true;
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    if (is_unlabelled(distinct[i])) continue;
    Word word{distinct[i], 0.0, static_cast<int>(i)};
    numbers = parse_number(word.name, word.value) == NumberStatus::ok && numbers;
    words.push_back(std::move(word));
  }
  if (numbers) {
    for (Word& word : words) word.name = number_text(word.value + 0.0);  // -0 is 0
    std::stable_sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.value < b.value; });
  } else {
    std::sort(words.begin(), words.end(), [](const Word& a, const Word& b) { return a.name < b.name; });
  }

  Labels labels;
  std::vector<int> class_of(distinct.size(), -1);
  for (const Word& word : words) {
    if (labels.names.empty() || labels.names.back() != word.name) labels.names.push_back(word.name);
    class_of[word.position] = static_cast<int>(labels.names.size()) - 1;
  }
  labels.classes.reserve(words_.size());
  for (const int word : words_) labels.classes.push_back(class_of[word]);
  return labels;
}

Labels read_label_text(ByteStream& bytes, Index rows, Context& context) {
  CsvScanner scanner(bytes);
  scanner.find_delimiter();
  Budget budget(context, [&] { return concat(bytes.where(), ": line ", scanner.line()); });
  LabelLines labels(budget);
  Index blanks = 0;  // lines that are labels only where something follows, or the count asks for them
  for (;;) {
    blanks = scanner.skip_blank_lines();
    if (scanner.at_end()) break;
    require(labels.size() + blanks <= rows, ErrorCode::bad_data, bytes.where(), ": line ", scanner.line(),
            ": more than ", rows + 1, " labels for ", rows, " rows");
    labels.add_blank(blanks);
    const Index line = scanner.line();
    const CsvCell cell = scanner.cell();
    require(scanner.row_ended(), ErrorCode::bad_data, bytes.where(), ": line ", line,
            ": more than one column, need one label a line");
    labels.add(trimmed(cell.text));
  }
  const Index missing = std::max<Index>(0, rows - labels.size());
  if (missing <= blanks) labels.add_blank(missing);
  const bool header = labels.size() == rows + 1;
  require(header || labels.size() == rows, ErrorCode::bad_data, bytes.where(), ": ", labels.size(), " labels for ",
          rows, " rows");
  return labels.finish(header);
}

Labels read_label_file(const std::string& path, Index rows, Context& context) {
  const auto bytes = open_text(path, context);
  if (path.ends_with(".npy") || path.ends_with(".npy.gz")) return read_npy_labels(*bytes, rows, context);
  return read_label_text(*bytes, rows, context);
}

void require_label_count(const std::string& where, const std::string& what, Index count, Index rows) {
  require(count == rows, ErrorCode::bad_data, where, ": ", what, " has ", count, " labels for ", rows, " rows");
}

}  // namespace tamis
