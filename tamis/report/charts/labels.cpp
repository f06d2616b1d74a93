#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "tamis/base/text/utf8.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/page.h"

namespace tamis::page {

namespace {

using Letters = std::vector<std::string>;

Letters letters_of(std::string_view text) {
  Letters out;
  while (!text.empty()) {
    const std::size_t bytes = std::max<std::size_t>(first_character(text).bytes, 1);
    out.emplace_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return out;
}

// How many letters all of them begin with.
std::size_t shared_beginning(const std::vector<Letters>& all) {
  std::size_t shared = all.front().size();
  for (const Letters& one : all) {
    const auto differs = std::mismatch(one.begin(), one.end(), all.front().begin(), all.front().end());
    shared = std::min(shared, static_cast<std::size_t>(differs.first - one.begin()));
  }
  return shared;
}

// Letters from `begin` on, with an ellipsis wherever some are left out.
std::string window(const Letters& text, std::size_t begin, std::size_t most) {
  std::string out = begin > 0 ? "\u2026" : "";
  const std::size_t room = most - 2, end = std::min(text.size(), begin + room);
  for (std::size_t i = begin; i < end; ++i) out += text[i];
  return end < text.size() ? out + "\u2026" : out;
}

}  // namespace

std::vector<std::string> distinct_labels(const std::vector<std::string>& names, std::size_t most) {
  std::vector<std::string> out;
  std::map<std::string, std::vector<std::size_t>> same;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.push_back(elided(names[i], most));
    same[out.back()].push_back(i);
  }
  for (const auto& [label, places] : same) {
    std::vector<Letters> texts;
    for (const std::size_t i : places) texts.push_back(letters_of(names[i]));
    const std::size_t shared = shared_beginning(texts);
    if (places.size() < 2 || shared == texts.front().size()) continue;  // names that are equal stay so
    constexpr std::size_t kBefore = 2;                                  // letters before those that differ
    const std::size_t begin = shared > kBefore ? shared - kBefore : 0;
    for (std::size_t k = 0; k < places.size(); ++k) out[places[k]] = window(texts[k], begin, most);
  }
  return out;
}

}  // namespace tamis::page
