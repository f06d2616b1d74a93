// From the words of a label column to classes.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "tamis/base/context.h"
#include "tamis/data/bytes.h"
#include "tamis/data/table.h"

namespace tamis {

// Collects one word a row. Where all words are numbers, equal numbers ("3", "3.0") are one class and classes are
// sorted by value; otherwise words are compared by their bytes. Empty words and -1 are unlabelled.
class LabelBuilder {
 public:
  void add(std::string_view word);
  std::size_t size() const { return words_.size(); }
  Labels finish() const;

 private:
  std::vector<int> words_;            // position in distinct_, one a row
  std::deque<std::string> distinct_;  // a deque: the views in known_ must stay put
  std::unordered_map<std::string_view, int> known_;
};

// A text file of one column with n lines, or n + 1 with a header.
Labels read_label_text(ByteStream& bytes, Index rows);

// A label file: .npy by its name, otherwise text.
Labels read_label_file(const std::string& path, Index rows, Context& context);

// Error(bad_data) unless there is one label a row; `what` says which labels.
void require_label_count(const std::string& where, const std::string& what, std::size_t count, Index rows);

}  // namespace tamis
