#include "tamis/base/message.h"

#include <charconv>

#include "tamis/base/text/quote.h"

namespace tamis {

Part::Part(double value) {
  const auto end = std::to_chars(digits_, digits_ + sizeof digits_, value, std::chars_format::general, 10).ptr;
  words_ = {digits_, end};
}

Part::Part(bool is_signed, std::uint64_t bits) {
  char* const last = digits_ + sizeof digits_;
  const auto result =
      is_signed ? std::to_chars(digits_, last, static_cast<std::int64_t>(bits)) : std::to_chars(digits_, last, bits);
  words_ = {digits_, result.ptr};
}

Message Message::of(std::initializer_list<Part> parts) {
  Message out;
  for (const Part& part : parts) out.add(part);
  return out;
}

void Message::add(const Part& part) {
  if (part.message_ != nullptr) return add(*part.message_);
  const std::size_t begin = text_.size();
  if (part.kind_ == Name::Kind::flag) text_ += "--";
  text_ += part.words_;
  if (!part.value_.empty())
    (text_ += ' ') += part.kind_ == Name::Kind::flag ? shell_word(part.value_) : std::string(part.value_);
  if (!part.kind_) return;
  marks_.push_back(
      {begin, text_.size(), {*part.kind_, std::string(part.words_), std::string(part.value_), last_method()}});
}

void Message::add(const Message& other) {
  const std::size_t shift = text_.size();
  text_ += other.text_;
  for (const Mark& mark : other.marks_) marks_.push_back({mark.begin + shift, mark.end + shift, mark.name});
}

std::string Message::last_method() const {
  for (auto mark = marks_.rbegin(); mark != marks_.rend(); ++mark) {
    if (mark->name.kind == Name::Kind::method) return mark->name.word;
  }
  return {};
}

std::string Message::spelled(const Speller& speller) const {
  std::string out;
  std::size_t done = 0;
  for (const Mark& mark : marks_) {
    out.append(text_, done, mark.begin - done);
    out += speller(mark.name);
    done = mark.end;
  }
  return out.append(text_, done);
}

}  // namespace tamis
