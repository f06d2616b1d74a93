#include "app/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <sstream>

#include "app/help.h"
#include "tamis/base/error.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/csv/cells.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/run/features.h"

namespace tamis::app {

namespace {

std::string methods_with(const std::string& option) {
  std::string names;
  for (const auto& method : methods()) {
    if (find_option(method.bind()->options(), option)) names += (names.empty() ? "" : ", ") + method.name;
  }
  return names;
}

std::string flag_names(const Option& option) { return (option.name == "clusters" ? "-c,--" : "--") + option.name; }

std::string upper(std::string text) {
  for (char& letter : text) letter = letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 32) : letter;
  return text;
}

std::string type_name(const Option& option) {
  return std::holds_alternative<std::string*>(option.value) ? "NAME" : upper(type_text(option));
}

std::vector<CLI::ConfigItem> config_items(std::istream& file, const std::string& path) {
  try {
    return CLI::ConfigTOML().from_config(file);
  } catch (const CLI::Error&) {
    fail(ErrorCode::io, path, ": cannot be read as option = value lines");
  }
}

}  // namespace

void add_run_flags(CLI::App& app, RunArguments& arguments) {
  begin_group(app, kRunGroup);
  app.add_option("--seed", arguments.seed, "Random seed, 0..2^64-1 (0)")->type_name("INTEGER");
  app.add_option("--threads", arguments.threads, "Number of threads (all cores)")->type_name("INTEGER");
  app.add_option("--memory", arguments.memory, "Memory limit, such as 4GiB or 500MB (all of the machine's memory)")
      ->type_name("SIZE");
  app.add_option("--cpu", arguments.cpu,
                 "auto: the fastest code for this CPU; baseline: the same bits on every x86-64 machine (auto)")
      ->type_name("NAME");
  app.add_option("--config", arguments.config, "Read options from this file, one per line: option = value")
      ->type_name("FILE");
  app.add_flag("--json", arguments.json, "Print JSON instead of a table");
  app.add_flag("--quiet", arguments.quiet, "Do not print progress, notes or warnings");
}

void add_data_flags(CLI::App& app, DataArguments& arguments) {
  begin_group(app, kTableGroup);
  app.add_option(
      "DATA", arguments.path,
      "The table: .csv .tsv .tab .txt .dat .data .npy .npz .mtx .svm .libsvm .svmlight (text also as .gz), a 10x "
      "folder, or - for CSV "
      "on standard input");
  app.add_option("--array", arguments.array, "Name of the array in an .npz file (X)")->type_name("NAME");
  app.add_option("--header", arguments.header,
                 "Whether the first line of a CSV file holds column names: yes, no or auto (auto)")
      ->type_name("WORD");
  app.add_option("--id", arguments.id, "Column with row identifiers")->type_name("COLUMN");
  app.add_option("--names", arguments.names, "File with the names of the columns, one per line")->type_name("FILE");
  app.add_option("--format", arguments.format,
                 "File format, as an extension, if the file name has none: csv, tsv, npy, npz, mtx, libsvm, ...")
      ->type_name("ENDING");
  app.add_option("--skip", arguments.skip, "Number of lines before a text table (0; titles are recognized)")
      ->type_name("INTEGER");
  app.add_option("--missing", arguments.missing,
                 "What to do with missing values (blank, NA, NaN, null, ...): refuse, drop-rows, drop-columns, mean or "
                 "median (refuse)")
      ->type_name("WORD");
  app.add_option("--thousands", arguments.thousands, "Separator between thousands in text: , . ' or space (none)")
      ->type_name("SIGN");
  app.add_flag("--transpose", arguments.transpose, "Transpose the table: its rows are the features");
}

void add_exclude_flag(CLI::App& app, DataArguments& arguments) {
  add_list_flag(app, "--exclude", arguments.exclude,
                "Columns to leave out, by name, position in the file or pattern (*, ?): a,b,c or @FILE")
      ->type_name("LIST");
}

void add_counts_flag(CLI::App& app, DataArguments& arguments) {
  app.add_flag("--counts", arguments.counts,
               "The table holds raw counts: divide each row by its sum, times 10000, then take log(1 + x)");
}

std::vector<std::string> words_of(const std::vector<std::string>& lists, Context& context) {
  std::vector<std::string> words;
  for (const auto& list : lists) {
    for (auto& word : list_words(list, context)) words.push_back(std::move(word));
  }
  return words;
}

ReadOptions DataArguments::read_options() const {
  require(!path.empty(), ErrorCode::usage, "DATA is missing, need a file (see --help)");
  ReadOptions options;
  options.array = array;
  options.id_column = id;
  options.transpose = transpose;
  options.missing = parse_missing(missing);
  require_thousands(thousands);
  options.thousands = thousands;
  options.format = format;
  if (!skip.empty()) {
    const auto lines = parse_whole<Index>(skip);
    require(lines && *lines >= 0, ErrorCode::usage, "skip = ", skip, ", need an integer of at least 0");
    options.skip = *lines;
  }
  options.map = true;  // signals.cpp expects SIGBUS
  require(header == "yes" || header == "no" || header == "auto", ErrorCode::usage, "header = ", header,
          ", need yes, no or auto");
  if (header != "auto") options.header = header == "yes" ? ReadOptions::Header::yes : ReadOptions::Header::no;
  return options;
}

std::string option_help(const Option& option) {
  return concat(option.help, ": ", range_text(option), " (", value_text(option), ")");
}

void add_method_flags(CLI::App& app, MethodArguments& arguments) {
  app.add_option("-m,--method", arguments.method,
                 concat("Method that ranks the features (", kDefaultMethod, "); 'tamis methods' lists them all"))
      ->type_name("NAME");
  std::vector<std::string> seen;
  for (const auto& method : methods()) {
    const auto bound = method.bind();
    for (const auto& option : bound->options()) {
      if (std::find(seen.begin(), seen.end(), option.name) != seen.end()) continue;
      seen.push_back(option.name);
      const bool alone = std::holds_alternative<bool*>(option.value);  // without a value it means yes
      const auto store = [&arguments, alone, name = option.name](const std::string& value) {
        arguments.given[name] = alone && value.empty() ? "yes" : value;
      };
      CLI::Option* flag = app.add_option_function<std::string>(flag_names(option), store, option_help(option))
                              ->type_name(type_name(option))
                              ->group(kMethodGroup);
      if (alone) flag->expected(0, 1);
    }
  }
}

std::vector<std::string> yes_no_flags() {
  std::vector<std::string> flags;
  for (const auto& method : methods()) {
    const auto bound = method.bind();
    for (const auto& option : bound->options()) {
      if (std::holds_alternative<bool*>(option.value)) flags.push_back(flag_names(option));
    }
  }
  return flags;
}

bool is_yes_or_no(std::string_view word) {
  constexpr std::string_view kWords[] = {"yes", "no", "true", "false", "on", "off", "1", "0"};  // see set_from_text
  return std::ranges::find(kWords, word) != std::end(kWords);
}

// Every method's flags are known to the parser; help shows those of one method, with its own words and defaults.
void show_options_of(CLI::App& app, const Method& method) {
  const auto bound = method.bind();
  const Options options = bound->options();
  for (CLI::Option* flag : app.get_options([](const CLI::Option* one) { return one->get_group() == kMethodGroup; })) {
    const Option* option = find_option(options, flag->get_lnames().front());
    flag->group(option == nullptr ? "" : concat("Options of ", method.name));
    if (option != nullptr) flag->description(option_help(*option));
  }
}

void MethodArguments::keep_units() {
  if (chosen().bind()->standardizes()) given.try_emplace("standardize", "no");
}

const Method& MethodArguments::chosen() const { return find_method(method.empty() ? kDefaultMethod : method); }

std::unique_ptr<BoundMethod> MethodArguments::bind() const {
  const std::string& name_of_method = chosen().name;
  auto bound = chosen().bind();
  const auto options = bound->options();
  for (const auto& [name, value] : given) {
    const Option* option = find_option(options, name);
    if (option == nullptr && name == "clusters") {  // -c may stand in any command line; select says that it is idle
      parse_count(value, name);
      continue;
    }
    if (option == nullptr && name == "evidence") continue;  // of any method: select reads it
    const std::string owners = methods_with(name);
    require(option != nullptr || !method.empty(), ErrorCode::usage, "--", name, " is an option of ", owners,
            "; add -m ", owners.substr(0, owners.find(',')));
    require(option != nullptr, ErrorCode::usage, name_of_method, " has no option --", name, "; it belongs to ", owners);
    set_from_text(*option, name_of_method, value);
  }
  return bound;
}

std::uint64_t parse_seed(const std::string& text) {
  const auto seed = parse_whole<std::uint64_t>(text);
  require(seed.has_value(), ErrorCode::usage, "seed = ", text, ", need an integer 0..18446744073709551615");
  return *seed;
}

int parse_threads(const std::string& text) {
  constexpr int kMost = 1024;
  if (text.empty()) return 0;
  const auto threads = parse_whole<int>(text);
  require(threads && *threads >= 1 && *threads <= kMost, ErrorCode::usage, "threads = ", text, ", need an integer 1..",
          kMost);
  return *threads;
}

std::vector<Method> parse_methods(const std::string& list, Context& context) {
  if (list.empty()) return methods();
  std::vector<Method> chosen;
  for (const auto& name : list_words(list, context)) chosen.push_back(find_method(name));
  return chosen;
}

Index parse_count(const std::string& text, const std::string& name) {
  const auto count = parse_whole<Index>(text);
  require(count && *count >= 1, ErrorCode::usage, name, " = ", text, ", need an integer of at least 1");
  return *count;
}

CLI::Option* add_list_flag(CLI::App& app, const std::string& name, std::vector<std::string>& values,
                           const std::string& help) {
  return app.add_option(name, values, help)->expected(1)->take_all()->allow_extra_args(false);
}

void apply_config(CLI::App& app, const std::string& path) {
  constexpr std::size_t kMostBytes = 1 << 20;
  require(file_kind(path) == FileKind::regular, ErrorCode::usage, "config: ", path, " is not a file");
  std::string text(kMostBytes + 1, '\0');
  text.resize(open_file(path, nullptr)->read_full(text.data(), text.size()));
  require(text.size() <= kMostBytes, ErrorCode::usage, "config: ", path,
          " is too large for a file of option = value lines");
  std::istringstream file(text);
  apply_config(app, file, path);
}

void apply_config(CLI::App& app, std::istream& file, const std::string& path) {
  for (const auto& item : config_items(file, path)) {
    if (item.name == "++" || item.name == "--") continue;  // a section begins or ends
    if (!item.parents.empty() && item.parents != std::vector<std::string>{app.get_name()}) continue;
    CLI::Option* option = app.get_option_no_throw("--" + item.name);
    if (option == nullptr && item.name.size() == 1) option = app.get_option_no_throw("-" + item.name);
    if (option == nullptr && item.name == "DATA") option = app.get_option_no_throw("DATA");
    require(option != nullptr && item.name != "config" && item.name != "help", ErrorCode::usage, path, ": ",
            printable(item.name), " is not an option of tamis ", app.get_name());
    if (!option->empty()) continue;
    if (option->get_expected_min() == 0) {
      require(item.inputs.size() == 1, ErrorCode::usage, path, ": ", item.name, ", need true or false");
      option->add_result(option->get_flag_value(item.name, item.inputs.front()));
    } else {
      option->add_result(item.inputs);
    }
    option->run_callback();
  }
}

}  // namespace tamis::app
