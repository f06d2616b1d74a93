// Reads one JSON document (RFC 8259) that may be damaged or malicious: any defect is one Error(bad_data), nothing
// is trusted, and the depth is bounded. Duplicate keys in an object are rejected.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/memory.h"
#include "tamis/base/types.h"

namespace tamis {

class JsonValue {
 public:
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind() const { return kind_; }
  bool is_null() const { return kind_ == Kind::null; }

  // Each throws Error(bad_data) if the value is of another kind, or does not fit.
  bool boolean() const;
  double number() const;
  Index index() const;
  const std::string& string() const;
  const std::vector<JsonValue>& array() const;
  const std::map<std::string, JsonValue>& object() const;
  const JsonValue& at(const std::string& key) const;  // of an object that must contain it

  std::vector<double> numbers() const;
  std::vector<Index> indices() const;
  std::vector<std::string> strings() const;

 private:
  friend class JsonParser;
  void expect(Kind kind) const;

  Kind kind_ = Kind::null;
  bool flag_ = false;
  std::string text_;  // of a string, or of a number as written: a 64-bit integer keeps all its digits
  std::vector<JsonValue> items_;
  std::map<std::string, JsonValue> members_;
};

inline constexpr int kJsonDepth = 64;

// The whole text must be one document; `where` starts every message. The values take ten times the memory of the text
// and more: the budget, where there is one, is asked for it first.
JsonValue parse_json(std::string_view text, const std::string& where, Budget* budget = nullptr);

}  // namespace tamis
