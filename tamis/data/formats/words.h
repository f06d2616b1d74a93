// Words of a file, taken from the memory budget one by one.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tamis/base/memory.h"

namespace tamis {

// What a string of that text takes beside itself: short ones hold their text.
inline std::uint64_t text_bytes(std::string_view word) {
  return word.size() < sizeof(std::string) / 2 ? 0 : word.size() + 2 * sizeof(void*);
}

inline void add_word(std::vector<std::string>& words, std::string_view word, Budget& budget) {
  budget.take(text_bytes(word));
  grow(words, 1, budget);
  words.emplace_back(word);
}

// Each word once, so that a small file that repeats one for gigabytes takes no more memory than the word.
class DistinctWords {
 public:
  explicit DistinctWords(Budget& budget) : budget_(&budget) {}

  // Its position in words().
  int add(std::string_view word);
  // In the order in which they came first.
  const std::deque<std::string>& words() const { return words_; }

 private:
  Budget* budget_;
  std::deque<std::string> words_;  // a deque: the views in known_ must stay put
  std::unordered_map<std::string_view, int> known_;
};

}  // namespace tamis
