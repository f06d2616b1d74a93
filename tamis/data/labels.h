// From the words of a label column to classes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/words.h"
#include "tamis/data/table.h"

namespace tamis {

// Collects one word a row. Where all words are numbers, equal numbers ("3", "3.0") are one class and classes are
// sorted by value; otherwise words are compared by their bytes. Empty words and -1 are unlabeled.
class LabelBuilder {
 public:
  explicit LabelBuilder(Budget& budget) : budget_(&budget), distinct_(budget) {}

  void add(std::string_view word);
  Index size() const { return static_cast<Index>(words_.size()); }
  Labels finish() const;

 private:
  Budget* budget_;
  std::vector<int> words_;  // position in distinct_, one a row
  DistinctWords distinct_;
};

// A text file of one column with n lines, or n + 1 with a header.
Labels read_label_text(ByteStream& bytes, Index rows, Context& context);

// A label file: .npy by its name, otherwise text.
Labels read_label_file(const std::string& path, Index rows, Context& context);

// Error(bad_data) unless there is one label a row; `what` says which labels.
void require_label_count(const std::string& where, const std::string& what, Index count, Index rows);

}  // namespace tamis
