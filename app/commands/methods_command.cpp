// tamis methods [NAME]: what there is, made from the registry's descriptions.
#include <CLI/CLI.hpp>

#include "app/help.h"
#include "app/session.h"
#include "tamis/report/json.h"

namespace tamis::app {

namespace {

struct MethodsArguments {
  std::string name;
  bool json = false;
};

std::string list_methods() {
  TextTable table({TextTable::Align::left, TextTable::Align::left});
  for (const auto& method : methods()) table.add({method.name, method.summary});
  return table.to_text() + "\nRun 'tamis methods NAME' for the formula and the options of a method.\n";
}

// "alpha: 0.1, 1, 10"
std::string grid_text(const Method& method) {
  std::string out;
  for (const auto& [option, values] : method.grid) {
    out += out.empty() ? "\ntamis compare --grid tries " : "; ";
    for (std::size_t i = 0; i < values.size(); ++i) out += (i == 0 ? option + ": " : ", ") + values[i];
  }
  return out.empty() ? out : out + ".\n";
}

std::string describe_method(const Method& method) {
  std::string out =
      method.name + ": " + method.summary + "\n\n" + method.formula + "\n\nReference: " + method.reference + "\n";
  const auto bound = method.bind();
  const auto options = bound->options();
  if (!method.same_as.empty()) out += "\nWith its defaults it ranks as " + method.same_as + " does.\n";
  if (options.empty()) return out + "\nNo options.\n";
  TextTable table(std::vector<TextTable::Align>(5, TextTable::Align::left));
  table.add({"option", "type", "range", "default", "meaning"});
  for (const auto& option : options) {
    table.add({"--" + option.name, type_text(option), range_text(option), value_text(option), option.help});
  }
  return out + "\n" + table.to_text() + grid_text(method);
}

void write_described(Json& json, const Method& method) {
  json.begin_object().member("name", method.name).member("python_name", method.python_name);
  json.member("summary", method.summary).member("formula", method.formula).member("reference", method.reference);
  json.member("is_order", method.is_order).member("one_pass", method.one_pass).member("remote", method.remote);
  json.member("resumes", method.resumes).member("same_as", method.same_as).key("grid").begin_object();
  for (const auto& [option, values] : method.grid) json.member(option, values);
  json.end_object().key("options").begin_array();
  const auto bound = method.bind();
  for (const auto& option : bound->options()) {
    json.begin_object().member("name", option.name).member("python_name", option.in_python());
    json.member("type", type_text(option)).member("range", range_text(option));
    json.member("default", value_text(option)).member("help", option.help).end_object();
  }
  json.end_array().end_object();
}

std::string methods_json(const std::string& name) {
  Json json;
  if (!name.empty()) {
    write_described(json, find_method(name));
    return json.text() + "\n";
  }
  json.begin_array();
  for (const auto& method : methods()) write_described(json, method);
  return json.end_array().text() + "\n";
}

}  // namespace

Command add_methods_command(CLI::App& root) {
  auto arguments = std::make_shared<MethodsArguments>();
  CLI::App* app = root.add_subcommand("methods", "List the methods; with NAME, show its formula and options");
  optional_argument(app->add_option("NAME", arguments->name, "Method to describe"));
  app->add_flag("--json", arguments->json, "Print JSON instead of a table");
  return {app, nullptr, [arguments] {
            const auto& name = arguments->name;
            print_result(arguments->json ? methods_json(name)
                         : name.empty()  ? list_methods()
                                         : describe_method(find_method(name)));
            return 0;
          }};
}

}  // namespace tamis::app
