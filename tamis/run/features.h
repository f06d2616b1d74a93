// How people name features: by name or by position in the file, counted from 0, in lists on the command line or in
// files, and how many of them to keep. What is written has positions among the features, and those in the file beside.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/memory.h"
#include "tamis/data/table.h"
#include "tamis/run/apply.h"
#include "tamis/select/groups.h"

namespace tamis {

// How many features to select: a count, or a fraction of those available; else what `otherwise` says.
struct FeatureCount {
  enum class Otherwise { by_method, all, automatic };  // by_method: automatic where it chooses itself, else all
  std::optional<Index> count;
  std::optional<double> fraction;
  Otherwise otherwise = Otherwise::by_method;
};

// "50", "0.1", "auto" or "all". Throws Error(usage).
FeatureCount parse_feature_count(const std::string& text);
// The count, or the fraction rounded to the nearest count and at least 1. Throws Error(usage) above `available`.
Index resolve_count(const FeatureCount& wanted, Index available);

// The name of feature j; "f0", "f1", ... where the file has none.
std::string feature_name(const Table& table, Index j);

// The same for messages: its position in the file where it is blank.
std::string name_or_position(const Table& table, Index j);

// Where features stand in the file.
std::vector<Index> columns_of_file(const Table& table, const std::vector<Index>& features);

// "a,b,c", or "@FILE", or a FILE that exists (its path has a '/' or it ends in .txt .csv .tsv .list): the words in it.
std::vector<std::string> list_words(const std::string& text, Context& context);

// How ranking.csv begins; other columns follow, and the position in the file is the last.
inline constexpr std::string_view kClustersHeader = "row,cluster";  // of clusters.csv
inline constexpr std::string_view kRankingHeader = "rank,index,name,score,selected";

// Words for features: typed by people, or positions alone, which are never names.
struct FeatureList {
  enum class Kind { typed, columns_of_file, features };
  std::vector<std::string> words;
  Kind kind = Kind::typed;
  std::vector<std::string> names = {};  // what is known to stand at these positions; empty: nothing is
  bool made_up = false;                 // these names are f0, f1, ... as feature_name() has them
};

// Positions among the features of what was named, each once, in the order given. Typed names win over positions, and
// over patterns (pattern.h), which stand for every feature whose name matches. Positions with names beside them are
// found by name where the table has names. Columns of the file that are no features (text, labels, row identifiers) are
// passed over where `skip_left_out`. Throws Error(usage) on a word that stands for nothing, or for several columns, and
// Error(bad_data) where names beside positions are missing.
std::vector<Index> resolve_features(const FeatureList& list, const Table& table, const std::string& where,
                                    bool skip_left_out = false);

// Features that are chosen as one, and what these groups are called.
struct FeatureGroups {
  ColumnGroups groups;
  std::vector<std::string> names;  // one a group; that of the feature where it is a group by itself
};

// From a file, or "@header": the name of a feature ends in @GROUP. A line of a file has a feature (name or position in
// the file) and its group; or every line has a group alone, one for each feature in their order. A first line that ends
// in "group" and names no feature is a header. Features that are in no group are groups by themselves. Throws
// Error(usage) on unknown features and on features in two groups, Error(bad_data) on a file that is not such a list.
FeatureGroups read_groups(const std::string& text, const Table& table, Context& context);
// Of a group for each feature; empty: a group by itself.
FeatureGroups groups_by_name(const std::vector<std::string>& group, const Table& table);

// Takes features out of a table: they become columns of the file that are no features.
void leave_out(Table& table, const std::vector<Index>& features);

// Reads a selection.json, for which there is a room further on; `where` starts its messages.
using SelectionReader =
    std::function<EarlierSelection(std::string_view json, const std::string& where, Budget* budget)>;

// The words of a list file. Of a ranking.csv that we wrote: the columns marked as selected, best first.
// With `top`, the first so many of the whole list instead. With a reader, of a selection.json, too.
FeatureList read_feature_list(const std::string& path, std::optional<Index> top, Context& context,
                              const SelectionReader& read_selection = {});

}  // namespace tamis
