// The columns of a text table as `tamis info` shows them, and the command that would work on it.
#pragma once

#include <string>

#include "app/arguments.h"
#include "tamis/report/json.h"
#include "tamis/run/survey.h"

namespace tamis::app {

// Numbers that look like an index, identifiers or times.
bool is_doubtful(const SurveyedColumn& column);

// One line a column; of many columns only those with something to say about them, unless `all`.
std::string columns_table(const Survey& survey, bool all);
// [{"column", "name", "holds", ...}, ...]
void write_columns(Json& json, const Survey& survey);

// What `tamis select` needs for this table beside what was given: identifiers, columns to leave out, missing values.
DataArguments working_arguments(const DataArguments& arguments, const std::string& labels, const Survey& survey);
// The words of that command. `more` comes last.
std::string working_command(const DataArguments& working, const std::string& labels, const std::string& more);

// "tamis select table.csv -k 5" of the words after the name of the program. `to_send`: for a page that other people
// see, where an absolute path is only its last part.
std::string command_line(const std::vector<std::string>& words, bool to_send);

}  // namespace tamis::app
