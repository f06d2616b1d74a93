#include "python/methods.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <type_traits>

#include "tamis/base/error.h"

namespace tamis::python {

namespace {

template <class T>
nb::object value_of(const T& value) {
  return nb::cast(value);
}
template <class T>
nb::object value_of(const std::optional<T>& value) {
  return value ? nb::cast(*value) : nb::none();
}

nb::object value_of(const std::vector<Index>& values) {
  nb::list out;
  for (const Index value : values) out.append(value);
  return nb::tuple(out);
}

nb::object value_of(const Option& option) {
  return std::visit([](const auto* value) { return value_of(*value); }, option.value);
}

nb::dict describe_option(const Option& option) {
  nb::dict out;
  out["name"] = option.name;
  out["python_name"] = option.in_python();
  out["type"] = type_text(option);
  out["default"] = value_of(option);
  out["range"] = range_text(option);
  out["help"] = option.help;
  out["unset"] = option.unset_text;
  out["late"] = option.late;
  return out;
}

nb::dict describe_method(const Method& method) {
  const auto bound = method.bind();
  nb::list options;
  for (const auto& option : bound->options()) options.append(describe_option(option));
  nb::dict out;
  out["name"] = method.name;
  out["python_name"] = method.python_name;
  out["summary"] = method.summary;
  out["formula"] = method.formula;
  out["reference"] = method.reference;
  out["takes_classes"] = bound->takes_classes();
  out["takes_init"] = bound->takes_init();
  nb::list graph_options;
  if (GraphOptions graph; bound->takes_graph()) {
    for (const auto& option : describe(graph)) graph_options.append(option.in_python());
  }
  out["graph_options"] = graph_options;
  out["chooses_count"] = bound->chooses_count();
  out["one_pass"] = method.one_pass;
  out["remote"] = method.remote;
  out["weighs"] = method.weighs;
  using enum ClusterMetric;
  out["metric"] = method.metric == directions ? "directions" : method.metric == scores ? "scores" : "";
  out["options"] = options;
  return out;
}

bool is_truth(const nb::handle& value) {
  return PyBool_Check(value.ptr()) || nb::cast<std::string>(nb::str(value.type().attr("__name__"))).starts_with("bool");
}

// The number that Python would take it for; empty where it is none (a word, a list, True).
std::optional<double> real_number(const nb::handle& value) {
  if (is_truth(value) || !PyNumber_Check(value.ptr())) return std::nullopt;
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return number;
}

std::optional<Index> whole_number(const nb::handle& value) {
  if (is_truth(value) || !PyIndex_Check(value.ptr())) return std::nullopt;
  const nb::object index = nb::steal(PyNumber_Index(value.ptr()));
  int overflow = 0;
  const long long number = index.is_valid() ? PyLong_AsLongLongAndOverflow(index.ptr(), &overflow) : -1;
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  if (!index.is_valid() || overflow != 0) return std::nullopt;
  return number;
}

template <class T>
std::optional<T> converted(const nb::handle& value) {
  if constexpr (std::is_same_v<T, double>) return real_number(value);
  if constexpr (std::is_same_v<T, Index>) return whole_number(value);
  if constexpr (std::is_same_v<T, bool>) {
    if (is_truth(value)) return PyObject_IsTrue(value.ptr()) == 1;
    return std::nullopt;
  }
  if constexpr (std::is_same_v<T, std::string>) {
    if (nb::isinstance<nb::str>(value)) return to_bytes(value);
    return std::nullopt;
  }
}

// Stores the value; false where it is of another type.
template <class T>
bool store(T& place, const nb::handle& value) {
  const auto found = converted<T>(value);
  if (found) place = *found;
  return found.has_value();
}
template <class T>
bool store(std::optional<T>& place, const nb::handle& value) {
  if (value.is_none()) {
    place.reset();
    return true;
  }
  const auto found = converted<T>(value);
  if (found) place = *found;
  return found.has_value();
}

bool store(std::vector<Index>& place, const nb::handle& value) {
  if (nb::isinstance<nb::str>(value) || !PySequence_Check(value.ptr())) return false;
  std::vector<Index> found;
  for (const auto& one : nb::cast<nb::sequence>(value)) {
    const auto number = whole_number(one);
    if (!number) return false;
    found.push_back(*number);
  }
  place = std::move(found);
  return true;
}

std::string allowed_text(const Option& option) {
  if (std::holds_alternative<bool*>(option.value)) return "True or False";
  if (std::holds_alternative<std::string*>(option.value)) return "one of " + range_text(option);
  if (std::holds_alternative<std::vector<Index>*>(option.value)) return "a sequence of integers " + limits_text(option);
  return allowed_values(option);
}

}  // namespace

nb::list describe_methods() {
  nb::list out;
  for (const auto& method : methods()) out.append(describe_method(method));
  return out;
}

void set_options(BoundMethod& bound, const nb::dict& values, const std::string& where) {
  const Options options = bound.options();
  for (const auto& [key, value] : values) {
    const std::string name = to_bytes(key);
    const auto option =
        std::find_if(options.begin(), options.end(), [&](const Option& one) { return one.in_python() == name; });
    require(option != options.end(), ErrorCode::usage, MethodName{where}, ": no option ", name);
    const bool fits = std::visit([&, v = value](auto* place) { return store(*place, v); }, option->value);
    require(fits, ErrorCode::usage, MethodName{where}, ": ", OptionName{option->name}, " = ", to_bytes(nb::repr(value)),
            ", need ", allowed_text(*option), option->unset_text.empty() ? "" : ", or None");
  }
  validate(options, where);
}

Settings settings_of(const Method& method, const nb::dict& values) {
  const auto bound = method.bind();
  set_options(*bound, values, method.name);
  Settings settings;
  for (const auto& option : bound->options()) {
    const nb::str name(option.in_python().c_str());
    if (values.contains(name) && !nb::object(values[name]).is_none()) settings[option.name] = value_text(option);
  }
  return settings;
}

nb::dict values_of(const Method& method, const Settings& settings) {
  const auto bound = method.bind();
  const Options options = bound->options();
  nb::dict out;
  for (const auto& [name, text] : settings) {
    const Option& option = *find_option(options, name);
    set_from_text(option, method.name, text);
    out[option.in_python().c_str()] = value_of(option);
  }
  return out;
}

}  // namespace tamis::python
