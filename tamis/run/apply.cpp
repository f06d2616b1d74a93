#include "tamis/run/apply.h"

#include <algorithm>
#include <unordered_set>

#include "tamis/base/error.h"
#include "tamis/base/text/nearest.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/text/utf8.h"

namespace tamis {

namespace {

using Positions = std::unordered_multimap<std::string, Index>;

Positions positions_by_name(const std::vector<std::string>& names) {
  Positions positions;
  for (std::size_t j = 0; j < names.size(); ++j) positions.emplace(names[j], static_cast<Index>(j));
  return positions;
}

std::vector<Index> find_by_position(const EarlierSelection& selection, const OtherTable& table) {
  require(table.features == selection.features, ErrorCode::bad_data, table.where, ": ", table.features,
          " columns; the selection was made from a table without column names, so this one needs ", selection.features,
          " columns, too");
  return selection.positions;
}

void require_numbers(const EarlierSelection& selection, const OtherTable& table) {
  const std::unordered_set<std::string> wanted(selection.names.begin(), selection.names.end());
  for (const auto& name : table.left_out) {
    require(!wanted.contains(name), ErrorCode::bad_data, table.where, ": column '", printable(name),
            "' was selected, but here it holds text, labels or row identifiers, need numbers");
  }
}

std::string plain_form(const std::string& name) { return lower_case(trimmed(name)); }

// The same in other capitals or with other blanks, the closest name, or else the only one that holds the word, or that
// the word holds.
std::string renamed_as(const std::string& word, const std::vector<std::string>& others) {
  constexpr std::size_t kShortest = 3;
  const auto same = [&](const std::string& name) { return plain_form(name) == plain_form(word); };
  if (const auto alike = std::ranges::find_if(others, same); alike != others.end()) return *alike;
  std::string found = nearest_name(word, others);
  if (!found.empty()) return found;
  Index count = 0;
  for (const auto& name : others) {
    const bool holds = name.find(word) != std::string::npos || word.find(name) != std::string::npos;
    if (holds && std::min(name.size(), word.size()) >= kShortest) found = name, ++count;
  }
  return count == 1 ? found : std::string();
}

// "'temp' (did you mean 'temperature'?), 'flow' and 3 more"
std::string missing_text(const std::vector<std::string>& missing, const EarlierSelection& selection,
                         const OtherTable& table) {
  constexpr std::size_t kNamed = 5;
  const std::unordered_set<std::string> wanted(selection.names.begin(), selection.names.end());
  std::vector<std::string> others;  // a column that is selected under its own name was not renamed
  for (const auto& name : table.names) {
    if (!wanted.contains(name)) others.push_back(name);
  }
  std::string out;
  for (std::size_t k = 0; k < std::min(kNamed, missing.size()); ++k) {
    const std::string near = renamed_as(missing[k], others);
    out += concat(k == 0 ? "'" : ", '", printable(missing[k]), "'");
    if (!near.empty()) out += concat(" (did you mean '", printable(near), "'?)");
  }
  return out + (missing.size() > kNamed ? concat(" and ", missing.size() - kNamed, " more") : "");
}

std::vector<Index> find_by_name(const EarlierSelection& selection, const OtherTable& table) {
  require(!table.names.empty(), ErrorCode::bad_data, table.where, ": no column names; the selection has names (",
          listed(selection.names), "), need a table with these");
  require_numbers(selection, table);
  const Positions positions = positions_by_name(table.names), own = positions_by_name(selection.names);
  std::vector<Index> found;
  std::vector<std::string> missing;
  for (const auto& name : selection.names) {
    require(own.count(name) == 1, ErrorCode::bad_data, table.where, ": ", own.count(name),
            " of the selected columns are named '", printable(name), "', so names do not tell them apart");
    const auto [first, last] = positions.equal_range(name);
    require(first == last || std::next(first) == last, ErrorCode::bad_data, table.where, ": ",
            std::distance(first, last), " columns are named '", printable(name), "', need one");
    if (first == last) {
      missing.push_back(name);
    } else {
      found.push_back(first->second);
    }
  }
  require(missing.empty(), ErrorCode::bad_data, table.where, ": ", missing.size(), " of ",
          counted(std::ssize(selection.names), "selected column"), missing.size() == 1 ? " is" : " are",
          " missing: ", missing_text(missing, selection, table));
  return found;
}

}  // namespace

std::vector<Index> find_selected(const EarlierSelection& selection, const OtherTable& table) {
  return selection.names.empty() ? find_by_position(selection, table) : find_by_name(selection, table);
}

}  // namespace tamis
