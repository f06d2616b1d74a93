// Writes one JSON document into a string, in the order of the calls. The writer takes care of commas and brackets;
// numbers that are not finite are written as null.
#pragma once

#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/text/spelling.h"

namespace tamis {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_array() { return open('['); }
  Json& end_array() { return close(']'); }
  Json& key(std::string_view name);

  Json& null() { return raw("null"); }
  Json& value(std::string_view text) { return raw(json_string(text)); }
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(bool flag) { return raw(flag ? "true" : "false"); }
  Json& value(double number);
  template <std::integral Integer>
  Json& value(Integer number) {
    return raw(std::to_string(number));
  }
  template <class Value>
  Json& value(const std::vector<Value>& values) {
    begin_array();
    for (const auto& one : values) value(one);
    return end_array();
  }
  template <class Value>
  Json& value(const std::optional<Value>& known) {
    return known ? value(*known) : null();
  }
  template <class Value>
  Json& value(const std::map<std::string, Value>& members) {
    begin_object();
    for (const auto& [name, one] : members) member(name, one);
    return end_object();
  }

  template <class Value>
  Json& member(std::string_view name, const Value& one) {
    return key(name).value(one);
  }
  // null unless it is known.
  template <class Value>
  Json& member_if(bool known, std::string_view name, const Value& one) {
    return known ? member(name, one) : key(name).null();
  }

  const std::string& text() const { return out_; }

 private:
  Json& open(char bracket);
  Json& close(char bracket);
  Json& raw(std::string_view token);

  std::string out_;
  bool first_ = true;  // the innermost bracket is empty, or a key was just written
};

// "NAME": [{...}, ...]
template <class Values, class Write>
void write_list(Json& json, const char* name, const Values& values, Write write) {
  json.key(name).begin_array();
  for (const auto& one : values) {
    json.begin_object();
    write(one);
    json.end_object();
  }
  json.end_array();
}

}  // namespace tamis
