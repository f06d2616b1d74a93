#include "app/columns.h"

#include <algorithm>
#include <set>

#include "app/terminal.h"
#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"

namespace tamis::app {

namespace {

constexpr std::size_t kShownColumns = 40;

std::string name_of_column(const SurveyedColumn& column, std::size_t j) {
  return column.name.empty() ? std::to_string(j) : column.name;
}

std::string remarks(const Survey& survey, const SurveyedColumn& column) {
  std::vector<std::string> words;
  const auto say = [&](bool condition, const std::string& what) {
    if (condition) words.push_back(what);
  };
  const bool mixed = column.content == Content::text && column.not_numbers + column.missing < survey.rows;
  say(mixed, concat(counted(column.not_numbers, "cell"), column.not_numbers == 1 ? " is" : " are",
                    " not a number, first ", in_quotes(column.example), " in line ", column.example_line));
  say(!mixed && column.not_numbers > 0, "such as " + in_quotes(column.example));
  say(column.content == Content::number && column.grouped > 0,
      concat("separators between thousands; --thousands ", column.thousands, " reads them"));
  say(column.missing > 0, concat(column.missing, " missing (",
                                 column.missing_as.empty() ? std::string("blank") : in_quotes(column.missing_as), ")"));
  say(column.constant, "constant");
  if (column.copy_of >= 0) {
    const auto first = static_cast<std::size_t>(column.copy_of);
    words.push_back("copy of " + printable(name_of_column(survey.columns[first], first), 24));
  }
  say(column.counts_rows, "counts the rows, like an index");
  say(column.rises && !column.counts_rows,
      concat(column.falls ? "falls" : "rises", " from row to row, like an identifier or a time"));
  say(&column == survey.columns.data() && has_shuffled_index(survey),
      "no name and whole numbers, like an index; --id 0 takes it as row names");
  say(column.distinct, "different in every row, like row names");
  say(column.sentinels > 0, concat(column.sentinels, " times ", short_number(column.sentinel),
                                   ", far from all other values; probably a code for missing values"));
  std::string out;
  for (const auto& word : words) out += (out.empty() ? "" : "; ") + word;
  return out;
}

// "--exclude" has commas between names, so such a name goes by its position, as one does that several columns have.
std::string list_word(const Survey& survey, std::size_t j) {
  const std::string& name = survey.columns[j].name;
  const auto has_it = [&](const SurveyedColumn& column) { return column.name == name; };
  const bool plain = !name.empty() && name.find_first_of(",*?@\n\r") == std::string::npos &&
                     std::count_if(survey.columns.begin(), survey.columns.end(), has_it) == 1;
  return plain ? name : std::to_string(j);
}

// Text, dates, and numbers that look like identifiers; not the column that names the rows, nor the labels.
std::string columns_left_out(const Survey& survey, Index id, const std::string& id_name, const std::string& labels,
                             const std::vector<std::string>& given) {
  std::string out;
  const auto is_given = [&](const std::string& word) {
    return std::any_of(given.begin(), given.end(), [&](const std::string& list) {
      return concat(",", list, ",").find(concat(",", word, ",")) != std::string::npos;
    });
  };
  for (std::size_t j = 0; j < survey.columns.size(); ++j) {
    const SurveyedColumn& column = survey.columns[j];
    const bool named = static_cast<Index>(j) == id || (!column.name.empty() && column.name == id_name) ||
                       (!column.name.empty() && column.name == labels);
    if (named || (holds_numbers(column) && !is_doubtful(column)) || is_given(list_word(survey, j))) continue;
    out += (out.empty() ? "" : ",") + list_word(survey, j);
  }
  return out;
}

// Of columns that are kept as features.
bool has_missing(const Survey& survey) {
  return std::any_of(survey.columns.begin(), survey.columns.end(), [](const SurveyedColumn& column) {
    return holds_numbers(column) && !is_doubtful(column) && column.missing > 0;
  });
}

// What --thousands needs to be for columns that are kept.
std::string thousands_of(const Survey& survey) {
  for (const SurveyedColumn& column : survey.columns) {
    if (holds_numbers(column) && !column.thousands.empty()) return column.thousands;
  }
  return {};
}

}  // namespace

bool is_doubtful(const SurveyedColumn& column) { return column.rises || column.counts_rows; }

std::string columns_table(const Survey& survey, bool all) {
  using enum TextTable::Align;
  TextTable table({right, left, left, left});
  table.add({"column", "name", "holds", "remarks"});
  const bool whole = all || survey.columns.size() <= kShownColumns;
  std::size_t shown = 0, plain = 0, rest = 0;
  for (std::size_t j = 0; j < survey.columns.size(); ++j) {
    const SurveyedColumn& column = survey.columns[j];
    const std::string said = remarks(survey, column);
    if (!whole && said.empty()) {
      ++plain;
    } else if (!whole && shown + 2 >= kShownColumns) {
      ++rest;
    } else {
      table.add({std::to_string(j), printable(column.name, 24), name_of(column.content), said});
      ++shown;
    }
  }
  std::string out = (shown > 0 ? table.to_text() : "");
  if (rest > 0) out += concat("... and ", rest, " more like these (--all shows every column)\n");
  if (plain > 0) out += concat(counted(plain, "numeric column"), " without remarks\n");
  if (survey.ragged > 0) {
    out += concat(counted(survey.ragged, "row"), survey.ragged == 1 ? " has" : " have",
                  " more or fewer cells than the first, ", "first in line ", survey.ragged_line, "\n");
  }
  return out;
}

void write_columns(Json& json, const Survey& survey) {
  std::size_t j = 0;
  write_list(json, "columns", survey.columns, [&](const SurveyedColumn& column) {
    json.member("column", j++).member("name", column.name).member("holds", name_of(column.content));
    json.member("missing", column.missing).member_if(column.missing > 0, "missing_as", column.missing_as);
    json.member("not_numbers", column.not_numbers).member_if(column.not_numbers > 0, "example", column.example);
    json.member_if(!column.thousands.empty(), "thousands", column.thousands);
    json.member("constant", column.constant).member("counts_rows", column.counts_rows).member("rises", column.rises);
    json.member("distinct", column.distinct)
        .member("sentinels", column.sentinels)
        .member_if(column.sentinels > 0, "sentinel", column.sentinel);
    json.member_if(column.copy_of >= 0, "copy_of", column.copy_of);
  });
}

namespace {

// "--output=/home/me/out" is "--output=out".
std::string without_folders(const std::string& word) {
  const std::size_t sign = word.starts_with('-') ? word.find('=') : std::string::npos;
  const std::size_t begin = sign == std::string::npos ? 0 : sign + 1;
  if (begin >= word.size() || word[begin] != '/') return word;
  const std::size_t end = word.find_last_not_of('/');
  if (end == std::string::npos || end < begin) return word;
  const std::size_t slash = word.rfind('/', end);
  return word.substr(0, begin) + word.substr(slash + 1, end - slash);
}

}  // namespace

std::string command_line(const std::vector<std::string>& words, bool to_send) {
  std::string out = "tamis";
  for (const auto& word : words) out += " " + shell_word(to_send ? without_folders(word) : word);
  return out;
}

DataArguments working_arguments(const DataArguments& arguments, const std::string& labels, const Survey& survey) {
  DataArguments working = arguments;
  const Index names = arguments.id.empty() ? column_of_names(survey) : -1;
  // The reader takes it by itself.
  const bool unnamed = names == 0 && names_rows_by_itself(survey);
  if (names >= 0 && !unnamed) working.id = list_word(survey, static_cast<std::size_t>(names));
  const std::string left_out = columns_left_out(survey, names, working.id, labels, arguments.exclude);
  if (!left_out.empty()) working.exclude.push_back(left_out);
  if (working.thousands.empty()) working.thousands = thousands_of(survey);
  if (has_missing(survey) && working.missing == "refuse") working.missing = "mean";
  return working;
}

std::string working_command(const DataArguments& working, const std::string& labels, const std::string& more) {
  const DataArguments usual;
  std::string out = "tamis select " + shell_word(working.path);
  const auto add = [&](const std::string& flag, const std::string& value, const std::string& usually) {
    if (value != usually) out += " " + flag + " " + shell_word(value);
  };
  add("--format", working.format, usual.format);
  add("--skip", working.skip, usual.skip);
  add("--header", working.header, usual.header);
  add("--array", working.array, usual.array);
  add("--names", working.names, usual.names);
  if (working.transpose) out += " --transpose";
  add("--id", working.id, usual.id);
  add("--labels", labels, "");
  for (const std::string& list : working.exclude) add("--exclude", list, "");
  add("--thousands", working.thousands, usual.thousands);
  add("--missing", working.missing, usual.missing);
  if (working.counts) out += " --counts";
  return out + more;
}

}  // namespace tamis::app
