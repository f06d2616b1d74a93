#include "tamis/run/features.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "tamis/base/error.h"
#include "tamis/base/memory.h"
#include "tamis/base/text/nearest.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/pattern.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/list.h"
#include "tamis/data/formats/words.h"
#include "tamis/run/output.h"

namespace tamis {

namespace {

class Resolver {
 public:
  Resolver(const Table& table, FeatureList::Kind kind, std::string where, bool skip_left_out)
      : table_(table), kind_(kind), where_(std::move(where)), skip_left_out_(skip_left_out) {
    if (kind != FeatureList::Kind::typed) return;
    for (std::size_t j = 0; j < table.names.size(); ++j) positions_.emplace(table.names[j], static_cast<Index>(j));
  }

  // None for columns that may be passed over, several for a pattern.
  std::vector<Index> operator()(const std::string& word) const {
    if (kind_ != FeatureList::Kind::typed) return as_list(position(word));
    const auto [first, last] = positions_.equal_range(word);
    if (first != last) {
      require(std::next(first) == last, ErrorCode::usage, where_, ": ", std::distance(first, last),
              " columns are named '", printable(word), "', need one (give its position, counted from 0)");
      return {first->second};
    }
    const auto& others = table_.excluded_columns;
    if (std::find(others.begin(), others.end(), word) != others.end()) return as_list(left_out(word));
    return is_pattern(word) ? matching(word) : as_list(position(word));
  }

  // Of a position as rankings have it; nothing where no feature stands there.
  std::optional<Index> feature_at(const std::string& word) const {
    const auto at = parse_whole<Index>(word);
    if (!at || *at < 0) return std::nullopt;
    if (table_.columns.empty() || kind_ == FeatureList::Kind::features) {
      return *at < table_.source.cols() ? at : std::nullopt;
    }
    const auto found = std::lower_bound(table_.columns.begin(), table_.columns.end(), *at);
    if (found == table_.columns.end() || *found != *at) return std::nullopt;
    return found - table_.columns.begin();
  }

 private:
  static std::vector<Index> as_list(const std::optional<Index>& feature) {
    return feature ? std::vector<Index>{*feature} : std::vector<Index>();
  }

  // Columns that are no features are passed over where others match, too.
  std::vector<Index> matching(const std::string& pattern) const {
    std::vector<Index> found;
    for (std::size_t j = 0; j < table_.names.size(); ++j) {
      if (matches_pattern(pattern, table_.names[j])) found.push_back(static_cast<Index>(j));
    }
    if (!found.empty()) return found;
    for (const auto& name : table_.excluded_columns) {
      if (matches_pattern(pattern, name)) return as_list(left_out(name));
    }
    fail(ErrorCode::usage, where_, ": no column matches '", printable(pattern), "'", hint_for(pattern));
  }

  // A name that would match in other letters, or one that is close to the pattern's letters.
  std::string hint_for(const std::string& pattern) const {
    if (table_.names.empty()) return ": the table has no column names";
    for (const auto& name : table_.names) {
      if (matches_pattern(lower_case(pattern), lower_case(name))) {
        return concat("; did you mean '", printable(name), "'? (capital letters count)");
      }
    }
    std::string letters = pattern;
    std::erase_if(letters, [](char letter) { return letter == '*' || letter == '?'; });
    return did_you_mean(letters, table_.names);
  }

  std::optional<Index> left_out(const std::string& word) const {
    require(skip_left_out_, ErrorCode::usage, where_, ": column '", printable(word),
            "' holds text, labels, row identifiers or missing values, need a feature");
    return std::nullopt;
  }

  std::optional<Index> position(const std::string& word) const {
    const bool numbered = table_.names.empty() && word.size() > 1 && word[0] == 'f';  // a name: see feature_name
    const auto at = parse_whole<Index>(std::string_view(word).substr(numbered ? 1 : 0));
    require(at.has_value(), ErrorCode::usage, where_, ": no feature is named '", printable(word), "'",
            did_you_mean(word, table_.names));
    const bool among_features = numbered || table_.columns.empty() || kind_ == FeatureList::Kind::features;
    const std::size_t others = among_features ? 0 : table_.excluded_columns.size();
    const Index count = table_.source.cols() + static_cast<Index>(others);
    require(*at >= 0 && *at < count, ErrorCode::usage, where_, ": position ", *at, ", need 0..", count - 1);
    if (among_features) return *at;
    const auto feature = feature_at(word);
    return feature ? feature : left_out(word);
  }

  const Table& table_;
  FeatureList::Kind kind_;
  std::string where_;
  bool skip_left_out_;
  std::unordered_multimap<std::string, Index> positions_;
};

bool is_list_file(const std::string& text) {
  constexpr std::string_view kEndings[] = {".txt", ".csv", ".tsv", ".list"};
  const bool looks = text.find('/') != std::string::npos ||
                     std::any_of(std::begin(kEndings), std::end(kEndings),
                                 [&](std::string_view ending) { return text.ends_with(ending); });
  struct stat status {};
  const bool there = looks && stat(text.c_str(), &status) == 0;
  return there && (S_ISREG(status.st_mode) || S_ISFIFO(status.st_mode));
}

// Takes the next record off a CSV text: quotes may hide separators and line ends.
void next_record(std::string_view& rest, std::vector<std::string>& record, Budget& budget) {
  record.assign(1, "");
  bool quoted = false;
  while (!rest.empty()) {
    const char byte = rest.front();
    rest.remove_prefix(1);
    if (byte == '"') {
      quoted = !quoted;
    } else if (quoted || (byte != ',' && byte != '\n')) {
      record.back() += byte;
    } else if (byte == ',') {
      grow(record, 1, budget);
      record.emplace_back();
    } else {
      if (record.back().ends_with('\r')) record.back().pop_back();
      return;
    }
  }
}

FeatureList read_ranking(const std::string& path, std::string_view rest, bool selected_only, Budget& budget) {
  budget.take(rest.size());  // a single record may hold it all
  std::vector<std::string> record;
  next_record(rest, record, budget);
  const std::size_t cells = record.size();
  // Rankings of older versions have positions among the features only.
  const bool has_columns = record.back() == "column";
  FeatureList list{{}, has_columns ? FeatureList::Kind::columns_of_file : FeatureList::Kind::features};
  list.made_up = true;
  for (Index number = 2; !rest.empty(); ++number) {
    next_record(rest, record, budget);
    if (record.size() == 1 && record[0].empty()) continue;
    const std::string& word = has_columns ? record.back() : record[std::min<std::size_t>(1, record.size() - 1)];
    require(record.size() == cells && parse_whole<Index>(word).has_value(), ErrorCode::bad_data, path, ": record ",
            number, ", need ", kRankingHeader, ",... as tamis writes them");
    if (selected_only && record[4] != "1") continue;
    list.made_up = list.made_up && record[2] == "f" + record[1];
    add_word(list.words, word, budget);
    add_word(list.names, record[2], budget);
  }
  return list;
}

// What a name of a ranking.csv is in the table: csv_cell() puts an apostrophe before what a spreadsheet would compute.
std::string unguarded(const std::string& name, const std::unordered_set<std::string>& known) {
  const bool guarded = name.starts_with('\'') && !known.contains(name) && known.contains(name.substr(1));
  return guarded ? name.substr(1) : name;
}

// Where the list and the table both have names, these decide, since the table may have its columns in another order or
// among others; empty where every position has its name (there may be several of one name), or where names were made
// up.
std::vector<std::string> names_to_find(const FeatureList& list, const Table& table, const Resolver& resolve) {
  if (list.names.empty() || table.names.empty()) return {};
  std::unordered_set<std::string> known(table.names.begin(), table.names.end());
  known.insert(table.excluded_columns.begin(), table.excluded_columns.end());
  std::vector<std::string> names;
  bool in_place = true, all_known = true;
  for (std::size_t i = 0; i < list.words.size(); ++i) {
    names.push_back(unguarded(list.names[i], known));
    const auto feature = resolve.feature_at(list.words[i]);
    in_place = in_place && feature && table.names[*feature] == names.back();
    all_known = all_known && known.contains(names.back());
  }
  return in_place || (list.made_up && !all_known) ? std::vector<std::string>() : names;
}

}  // namespace

FeatureCount parse_feature_count(const std::string& text) {
  if (text == "auto") return {{}, {}, FeatureCount::Otherwise::automatic};
  if (text == "all") return {{}, {}, FeatureCount::Otherwise::all};
  if (const auto count = parse_whole<Index>(text)) {
    require(*count >= 1, ErrorCode::usage, OptionName{"features"}, " = ", text, ", need a count of at least 1");
    return {count, std::nullopt, {}};
  }
  const auto fraction = parse_whole<double>(text);
  require(fraction && *fraction > 0.0 && *fraction < 1.0, ErrorCode::usage, OptionName{"features"}, " = ", text,
          ", need a count of at least 1, a fraction between 0 and 1, auto or all");
  return {std::nullopt, fraction, {}};
}

Index resolve_count(const FeatureCount& wanted, Index available) {
  if (wanted.fraction) {
    return std::max<Index>(1, static_cast<Index>(std::llround(*wanted.fraction * static_cast<double>(available))));
  }
  const Index count = wanted.count.value_or(available);
  require(count >= 1 && count <= available, ErrorCode::usage, OptionName{"features"}, " = ", count, ", need 1..",
          available);
  return count;
}

std::string feature_name(const Table& table, Index j) { return table.names.empty() ? concat("f", j) : table.names[j]; }

std::string name_or_position(const Table& table, Index j) {
  std::string name = feature_name(table, j);
  return name.empty() ? std::to_string(table.column(j)) : name;
}

std::vector<Index> columns_of_file(const Table& table, const std::vector<Index>& features) {
  std::vector<Index> columns;
  for (const Index j : features) columns.push_back(table.column(j));
  return columns;
}

std::vector<std::string> list_words(const std::string& text, Context& context) {
  const bool named = text.starts_with('@');
  if (named || is_list_file(text)) {
    const std::string path = named ? text.substr(1) : text;
    complete_result_of(path);
    return read_list(path, context);
  }
  std::vector<std::string> words;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    if (end > start) words.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

std::vector<Index> resolve_features(const FeatureList& list, const Table& table, const std::string& where,
                                    bool skip_left_out) {
  if (list.words.empty()) return {};
  const Resolver resolve(table, list.kind, where, skip_left_out);
  if (const auto names = names_to_find(list, table, resolve); !names.empty()) {
    return find_selected({{}, names, 0, {}}, {printable(table.path, table.path.size()), table.names,
                                              table.source.cols(), table.excluded_columns});
  }
  std::vector<Index> features;
  std::vector<char> seen(table.source.cols(), 0);
  for (const auto& word : list.words) {
    for (const Index feature : resolve(word)) {
      if (!seen[feature]++) features.push_back(feature);
    }
  }
  return features;
}

FeatureGroups groups_by_name(const std::vector<std::string>& group, const Table& table) {
  std::unordered_map<std::string, Index> known;
  std::vector<Index> numbers;
  FeatureGroups out;
  for (std::size_t j = 0; j < group.size(); ++j) {
    const auto next = static_cast<Index>(out.names.size());
    const bool alone = group[j].empty();
    numbers.push_back(alone ? next : known.emplace(group[j], next).first->second);
    if (numbers.back() == next) out.names.push_back(alone ? feature_name(table, static_cast<Index>(j)) : group[j]);
  }
  out.groups = ColumnGroups(numbers);
  return out;
}

namespace {

// name@group
FeatureGroups groups_of_header(const Table& table) {
  std::vector<std::string> group;
  bool any = false;
  for (const auto& name : table.names) {
    const std::size_t at = name.rfind('@');
    group.push_back(at == std::string::npos ? "" : name.substr(at + 1));
    any = any || !group.back().empty();
  }
  require(any, ErrorCode::usage, "groups = @header: no column is named NAME@GROUP");
  return groups_by_name(group, table);
}

// Whether the first record of a file of groups is its header.
bool is_groups_header(const GroupLine& first, const Table& table) {
  return lower_case(first.group) == "group" &&
         (first.feature.empty() || std::ranges::find(table.names, first.feature) == table.names.end());
}

}  // namespace

FeatureGroups read_groups(const std::string& text, const Table& table, Context& context) {
  if (text == "@header") return groups_of_header(table);
  const std::string where = printable(text, text.size());
  std::vector<GroupLine> lines = read_group_lines(text, context);
  if (!lines.empty() && is_groups_header(lines.front(), table)) lines.erase(lines.begin());
  require(!lines.empty(), ErrorCode::bad_data, where, ": 0 groups, need lines of a feature and its group");
  const Index d = table.source.cols();
  std::vector<std::string> group(d);
  if (lines.front().feature.empty()) {
    require(std::ssize(lines) == d, ErrorCode::bad_data, where, ": ", lines.size(),
            " groups, need one for each of the ", d, " features, or lines of a feature and its group");
    for (Index j = 0; j < d; ++j) group[j] = lines[j].group;
    return groups_by_name(group, table);
  }
  const Resolver resolve(table, FeatureList::Kind::typed, where, true);
  for (const auto& [feature, its_group, line] : lines) {
    for (const Index j : resolve(feature)) {
      require(group[j].empty() || group[j] == its_group, ErrorCode::usage, where, ": line ", line, ": column '",
              printable(feature), "' is in group '", printable(group[j]), "' already, need one group");
      group[j] = its_group;
    }
  }
  return groups_by_name(group, table);
}

void leave_out(Table& table, const std::vector<Index>& features) {
  if (features.empty()) return;
  std::vector<char> out(table.source.cols(), 0);
  for (const Index j : features) out[j] = 1;
  std::vector<Index> kept, columns;
  std::vector<std::string> names;
  for (Index j = 0; j < table.source.cols(); ++j) {
    if (out[j]) {
      table.excluded_columns.push_back(feature_name(table, j));
      continue;
    }
    kept.push_back(j), columns.push_back(table.column(j));
    if (!table.names.empty()) names.push_back(table.names[j]);
  }
  require(!kept.empty(), ErrorCode::usage, "exclude: all ", table.source.cols(),
          " features are excluded, need at least 1 left");
  table.source = table.source.with_columns(kept);
  if (table.as_read) table.as_read = table.as_read->with_columns(kept);
  table.names = std::move(names), table.columns = std::move(columns);
}

namespace {

// A list of names may begin with a brace, too.
bool is_json_object(std::string_view content) {
  if (!content.starts_with('{')) return false;
  const std::size_t next = content.find_first_not_of(" \t\r\n", 1);
  return next != std::string_view::npos && content[next] == '"';
}

FeatureList listed_in(const EarlierSelection& selection) {
  FeatureList list{{}, FeatureList::Kind::features, selection.names};
  for (const Index position : selection.positions) list.words.push_back(std::to_string(position));
  return list;
}

}  // namespace

FeatureList read_feature_list(const std::string& path, std::optional<Index> top, Context& context,
                              const SelectionReader& read_selection) {
  const std::string where = printable(path, path.size());
  require(file_kind(path) != FileKind::folder, ErrorCode::bad_data, where,
          ": a folder, need a file with one name per line");
  complete_result_of(path);
  Budget budget(context, where);
  const std::string content = read_whole(path, budget, context);
  FeatureList list;
  if (read_selection && is_json_object(content)) {
    require(!top, ErrorCode::usage, where, ": has the selected features only, need the ranking.csv beside it for ",
            Flag{"top"});
    list = listed_in(read_selection(content, where, &budget));
  } else if (content.starts_with(kRankingHeader)) {
    list = read_ranking(path, content, !top, budget);
  } else {
    list.words = read_list(*open_memory(content, where), context);
  }
  require(!list.words.empty(), ErrorCode::bad_data, path, ": 0 features in the list, need at least 1");
  if (top) {
    const auto count = static_cast<Index>(list.words.size());
    require(*top >= 1 && *top <= count, ErrorCode::usage, "top = ", *top, ", need 1..", count, " (the length of ", path,
            ")");
    list.words.resize(*top);
    if (!list.names.empty()) list.names.resize(*top);
  }
  return list;
}

}  // namespace tamis
