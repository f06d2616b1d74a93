// Words for people, put together from parts. A message is one line: where, what arrived, what is allowed, e.g.
//   lapscore: neighbors = 50, need 1..29
//
// The library knows a method as "lapscore", an option as "neighbors" and a flag as "scale". A message remembers where
// such names stand, so that each interface can spell them its own way: the command as above and as `--scale standard`,
// Python as `LaplacianScore: n_neighbors = 50` and as `scale='standard'`.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tamis {

struct MethodName {
  std::string_view word;
};
struct OptionName {  // of the method that is named before it in the message, if any
  std::string_view word;
};
struct Flag {
  std::string_view word;
  std::string_view value = {};  // what to set it to
};

// A name as a message remembers it.
struct Name {
  enum class Kind { method, option, flag };
  Kind kind;
  std::string word;
  std::string value;   // of a flag
  std::string method;  // the one named last before it; empty: none
  bool operator==(const Name&) const = default;
};
using Speller = std::function<std::string(const Name&)>;

class Part;

class Message {
 public:
  Message() = default;
  Message(std::string words) : text_(std::move(words)) {}
  Message(const char* words) : text_(words) {}
  static Message of(std::initializer_list<Part> parts);

  const std::string& text() const { return text_; }  // as the command spells it
  std::string spelled(const Speller& speller) const;
  bool operator==(const Message&) const = default;

 private:
  struct Mark {
    std::size_t begin, end;  // in the text
    Name name;
    bool operator==(const Mark&) const = default;
  };

  void add(const Part& part);
  void add(const Message& other);
  std::string last_method() const;

  std::string text_;
  std::vector<Mark> marks_;
};

// One part of a message, as a stream in the C locale would print it; doubles at up to 10 digits.
class Part {
 public:
  Part(std::string_view words) : words_(words) {}
  Part(const std::string& words) : words_(words) {}
  Part(const char* words) : words_(words) {}
  Part(char letter) : digits_{letter}, words_(digits_, 1) {}
  Part(double value);
  template <std::integral T>
  Part(T value) : Part(std::is_signed_v<T>, static_cast<std::uint64_t>(value)) {}
  Part(const MethodName& name) : words_(name.word), kind_(Name::Kind::method) {}
  Part(const OptionName& name) : words_(name.word), kind_(Name::Kind::option) {}
  Part(const Flag& flag) : words_(flag.word), value_(flag.value), kind_(Name::Kind::flag) {}
  Part(const Message& message) : words_(message.text()), message_(&message) {}
  Part(const Part&) = delete;  // words_ may point into digits_

 private:
  friend class Message;
  Part(bool is_signed, std::uint64_t bits);

  char digits_[32];
  std::string_view words_, value_;
  const Message* message_ = nullptr;
  std::optional<Name::Kind> kind_;  // of a name
};

// No template does more than make the parts, since no two messages have parts of the same types.
template <class... Parts>
Message message(const Parts&... parts) {
  return Message::of({Part(parts)...});
}

template <class... Parts>
std::string concat(const Parts&... parts) {
  return Message::of({Part(parts)...}).text();
}

}  // namespace tamis
