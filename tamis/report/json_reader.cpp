#include "tamis/report/json_reader.h"

#include <charconv>

#include "tamis/base/error.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/utf8.h"

namespace tamis {

namespace {

const char* name_of(JsonValue::Kind kind) {
  constexpr const char* kNames[] = {"null", "true or false", "a number", "a string", "an array", "an object"};
  return kNames[static_cast<int>(kind)];
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

}  // namespace

void JsonValue::expect(Kind kind) const {
  require(kind_ == kind, ErrorCode::bad_data, "json: ", name_of(kind_), ", need ", name_of(kind));
}

bool JsonValue::boolean() const {
  expect(Kind::boolean);
  return flag_;
}

double JsonValue::number() const {
  expect(Kind::number);
  double value = 0.0;
  require(parse_number(text_, value) == NumberStatus::ok, ErrorCode::bad_data, "json: ", text_,
          ", need a finite number");
  return value;
}

Index JsonValue::index() const {
  expect(Kind::number);
  Index value = 0;
  require(parse_index(text_, value), ErrorCode::bad_data, "json: ", text_, ", need a whole number");
  return value;
}

const std::string& JsonValue::string() const {
  expect(Kind::string);
  return text_;
}

const std::vector<JsonValue>& JsonValue::array() const {
  expect(Kind::array);
  return items_;
}

const std::map<std::string, JsonValue>& JsonValue::object() const {
  expect(Kind::object);
  return members_;
}

const JsonValue& JsonValue::at(const std::string& key) const {
  const auto found = object().find(key);
  require(found != members_.end(), ErrorCode::bad_data, "json: no member ", key);
  return found->second;
}

std::vector<double> JsonValue::numbers() const {
  std::vector<double> values;
  for (const auto& item : array()) values.push_back(item.number());
  return values;
}

std::vector<Index> JsonValue::indices() const {
  std::vector<Index> values;
  for (const auto& item : array()) values.push_back(item.index());
  return values;
}

std::vector<std::string> JsonValue::strings() const {
  std::vector<std::string> values;
  for (const auto& item : array()) values.push_back(item.string());
  return values;
}

class JsonParser {
 public:
  JsonParser(std::string_view text, const std::string& where, Budget* budget)
      : text_(text), where_(where), budget_(budget) {}

  JsonValue document() {
    JsonValue value = parse(0);
    skip_space();
    if (at_ != text_.size()) complain("unexpected text");
    return value;
  }

 private:
  [[noreturn]] void complain(const char* what) const {
    fail(ErrorCode::bad_data, where_, ": not a JSON document: ", what, " at byte ", at_);
  }

  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  char take() {
    if (at_ == text_.size()) complain("unexpected end");
    return text_[at_++];
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }

  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool take_sign(char sign) {
    skip_space();
    if (peek() != sign) return false;
    ++at_;
    return true;
  }

  JsonValue parse(int depth) {
    if (depth > kJsonDepth) complain("too many nested brackets");
    skip_space();
    JsonValue value;
    if (take_sign('{')) {
      parse_object(value, depth);
    } else if (take_sign('[')) {
      parse_array(value, depth);
    } else if (take_sign('"')) {
      value.kind_ = JsonValue::Kind::string;
      value.text_ = parse_string();
    } else if (take_word("null")) {
      value.kind_ = JsonValue::Kind::null;
    } else if (take_word("true") || take_word("false")) {
      value.kind_ = JsonValue::Kind::boolean;
      value.flag_ = text_[at_ - 2] == 'u';
    } else {
      value.kind_ = JsonValue::Kind::number;
      value.text_ = parse_number_text();
    }
    return value;
  }

  void parse_object(JsonValue& value, int depth) {
    value.kind_ = JsonValue::Kind::object;
    if (take_sign('}')) return;
    do {
      if (!take_sign('"')) complain("expected a key");
      std::string key = parse_string();
      take_memory(sizeof(std::pair<const std::string, JsonValue>) + kNode);
      if (!take_sign(':')) complain("expected ':'");
      if (!value.members_.emplace(std::move(key), parse(depth + 1)).second) complain("duplicate key");
    } while (take_sign(','));
    if (!take_sign('}')) complain("expected ',' or '}'");
  }

  void parse_array(JsonValue& value, int depth) {
    value.kind_ = JsonValue::Kind::array;
    if (take_sign(']')) return;
    do {
      make_room(value.items_);
      value.items_.push_back(parse(depth + 1));
    } while (take_sign(','));
    if (!take_sign(']')) complain("expected ',' or ']'");
  }

  std::string parse_string() {
    std::string out;
    for (char letter = take(); letter != '"'; letter = take()) {
      if (static_cast<unsigned char>(letter) < 0x20) complain("unexpected control character");
      if (letter == '\\') {
        parse_escape(out);
      } else {
        make_room(out);
        out += letter;
      }
    }
    return out;
  }

  template <class Vector>
  void make_room(Vector& vector) {  // for one more
    if (budget_ != nullptr && vector.size() == vector.capacity()) grow(vector, 1, *budget_);
  }

  void take_memory(std::uint64_t bytes) {
    if (budget_ != nullptr) budget_->take(bytes);
  }

  void parse_escape(std::string& out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    const char letter = take();
    if (letter != 'u') {
      const std::size_t place = kLetters.find(letter);
      if (place == std::string_view::npos) complain("unknown escape");
      out += kMeanings[place];
      return;
    }
    std::uint32_t code = parse_hexadecimal();
    if (code >= 0xd800 && code < 0xdc00 && take_word("\\u")) {
      const std::uint32_t low = parse_hexadecimal();
      if (low < 0xdc00 || low > 0xdfff) complain("unpaired surrogate");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    if (code >= 0xd800 && code < 0xe000) complain("unpaired surrogate");
    append_utf8(out, code);
  }

  std::uint32_t parse_hexadecimal() {
    const std::string_view digits = text_.substr(at_, 4);
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
    if (error != std::errc() || end != digits.data() + 4) complain("expected four hexadecimal digits");
    at_ += 4;
    return code;
  }

  void take_digits() {
    if (!is_digit(peek())) complain("expected a value");
    while (is_digit(peek())) ++at_;
  }

  std::string parse_number_text() {
    const std::size_t start = at_;
    if (peek() == '-') ++at_;
    if (peek() == '0') {
      ++at_;
    } else {
      take_digits();
    }
    if (peek() == '.') ++at_, take_digits();
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      if (peek() == '+' || peek() == '-') ++at_;
      take_digits();
    }
    return std::string(text_.substr(start, at_ - start));
  }

  static constexpr std::size_t kNode = 5 * sizeof(void*);  // what a map has beside each member

  std::string_view text_;
  const std::string& where_;
  Budget* budget_;
  std::size_t at_ = 0;
};

JsonValue parse_json(std::string_view text, const std::string& where, Budget* budget) {
  return JsonParser(text, where, budget).document();
}

}  // namespace tamis
