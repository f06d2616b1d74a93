#include "tamis/data/labels.h"

#include <algorithm>

#include "tamis/base/error.h"
#include "tamis/data/csv_scanner.h"
#include "tamis/data/npy.h"
#include "tamis/data/number.h"
#include "tamis/data/quote.h"

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

}  // namespace

void LabelBuilder::add(std::string_view word) {
  auto found = known_.find(word);
  if (found == known_.end()) {
    distinct_.emplace_back(word);
    found = known_.emplace(distinct_.back(), static_cast<int>(distinct_.size()) - 1).first;
  }
  words_.push_back(found->second);
}

Labels LabelBuilder::finish() const {
  std::vector<Word> words;
  bool numbers = true;
  for (std::size_t i = 0; i < distinct_.size(); ++i) {
    if (is_unlabelled(distinct_[i])) continue;
    Word word{distinct_[i], 0.0, static_cast<int>(i)};
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
  std::vector<int> class_of(distinct_.size(), -1);
  for (const Word& word : words) {
    if (labels.names.empty() || labels.names.back() != word.name) labels.names.push_back(word.name);
    class_of[static_cast<std::size_t>(word.position)] = static_cast<int>(labels.names.size()) - 1;
  }
  labels.classes.reserve(words_.size());
  for (const int word : words_) labels.classes.push_back(class_of[static_cast<std::size_t>(word)]);
  return labels;
}

Labels read_label_text(ByteStream& bytes, Index rows) {
  CsvScanner scanner(bytes);
  scanner.set_delimiter(scanner.sniff_delimiter());
  std::vector<std::string> words;
  Index blanks = 0;  // lines that are labels only where something follows, or the count asks for them
  for (;;) {
    blanks = scanner.skip_blank_lines();
    if (scanner.at_end()) break;
    words.resize(words.size() + static_cast<std::size_t>(blanks));
    const Index line = scanner.line();
    const CsvCell cell = scanner.cell();
    require(scanner.row_ended(), ErrorCode::bad_data, bytes.where(), ": line ", line,
            ": more than one column, need one label a line");
    words.emplace_back(trimmed(cell.text));
    require(static_cast<Index>(words.size()) <= rows + 1, ErrorCode::bad_data, bytes.where(), ": more than ", rows + 1,
            " labels for ", rows, " rows");
  }
  const auto wanted = static_cast<std::size_t>(rows);
  if (words.size() < wanted && wanted - words.size() <= static_cast<std::size_t>(blanks)) words.resize(wanted);
  const bool header = words.size() == wanted + 1;
  require(header || words.size() == wanted, ErrorCode::bad_data, bytes.where(), ": ", words.size(), " labels for ",
          rows, " rows");
  LabelBuilder builder;
  for (std::size_t i = header ? 1 : 0; i < words.size(); ++i) builder.add(words[i]);
  return builder.finish();
}

Labels read_label_file(const std::string& path, Index rows, Context& context) {
  const auto bytes = open_text(path, &context);
  if (path.ends_with(".npy") || path.ends_with(".npy.gz")) return read_npy_labels(*bytes, rows, context);
  return read_label_text(*bytes, rows);
}

void require_label_count(const std::string& where, const std::string& what, std::size_t count, Index rows) {
  require(count == static_cast<std::size_t>(rows), ErrorCode::bad_data, where, ": ", what, " has ", count,
          " labels for ", rows, " rows");
}

}  // namespace tamis
