#include "tamis/report/json.h"

#include <cmath>

namespace tamis {

Json& Json::key(std::string_view name) {
  raw(json_string(name));
  out_ += ": ";
  first_ = true;
  return *this;
}

Json& Json::value(double number) { return std::isfinite(number) ? raw(number_text(number)) : null(); }

Json& Json::open(char bracket) {
  raw(std::string_view(&bracket, 1));
  first_ = true;
  return *this;
}

Json& Json::close(char bracket) {
  out_ += bracket;
  first_ = false;
  return *this;
}

Json& Json::raw(std::string_view token) {
  if (!first_) out_ += ", ";
  out_ += token;
  first_ = false;
  return *this;
}

}  // namespace tamis
