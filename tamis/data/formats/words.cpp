#include "tamis/data/formats/words.h"

namespace tamis {
namespace {

// Of a word beside its text: two strings, since whoever collected the words makes a copy in the end, and its places in
// the table and in an order.
constexpr std::uint64_t kWordBytes = 2 * sizeof(std::string) + 96;

}  // namespace

int DistinctWords::add(std::string_view word) {
  const auto found = known_.find(word);
  if (found != known_.end()) return found->second;
  budget_->take(kWordBytes + 2 * text_bytes(word));
  words_.emplace_back(word);
  return known_.emplace(words_.back(), static_cast<int>(words_.size()) - 1).first->second;
}

}  // namespace tamis
