// The switches of tools/mutate, in a copy of the tree. TAMIS_MUTANT=17 turns mutant 17 on.
#pragma once

#include <cstdlib>
#include <type_traits>

namespace mutant {

inline constexpr int kMost = 10000;
inline const int active = [] {
  const char* value = std::getenv("TAMIS_MUTANT");
  return value == nullptr ? 0 : std::atoi(value);
}();
inline volatile unsigned char reached[kMost];

inline bool on(int id) {
  reached[id] = 1;
  return active == id;
}

struct Less {
  auto operator()(const auto& a, const auto& b) const -> decltype(a < b) { return a < b; }
};
struct AtMost {
  auto operator()(const auto& a, const auto& b) const -> decltype(a <= b) { return a <= b; }
};
struct More {
  auto operator()(const auto& a, const auto& b) const -> decltype(a > b) { return a > b; }
};
struct AtLeast {
  auto operator()(const auto& a, const auto& b) const -> decltype(a >= b) { return a >= b; }
};
struct Equal {
  auto operator()(const auto& a, const auto& b) const -> decltype(a == b) { return a == b; }
};
struct Unequal {
  auto operator()(const auto& a, const auto& b) const -> decltype(a != b) { return a != b; }
};
struct Plus {
  auto operator()(const auto& a, const auto& b) const -> decltype(a + b) { return a + b; }
};
struct Minus {
  auto operator()(const auto& a, const auto& b) const -> decltype(a - b) { return a - b; }
};
struct Times {
  auto operator()(const auto& a, const auto& b) const -> decltype(a * b) { return a * b; }
};
struct Over {
  auto operator()(const auto& a, const auto& b) const -> decltype(a / b) { return a / b; }
};

// `a < Swap<17, Less, AtMost>{} > b` is a < b, or a <= b for mutant 17; `a + Swap<17, Plus, Minus>{} + b` likewise.
template <int id, class Right, class Wrong>
struct Swap {};

template <int id, class Right, class Wrong, class Left>
struct Half {
  const Left& left;
};

template <int id, class Right, class Wrong, class A, class B>
auto decide(const Half<id, Right, Wrong, A>& half, const B& b) {
  using Result = decltype(Right{}(half.left, b));
  return on(id) ? static_cast<Result>(Wrong{}(half.left, b)) : Right{}(half.left, b);
}

#define TAMIS_MUTANT_HALVES(first, second)                                       \
  template <class A, int id, class Right, class Wrong>                           \
  Half<id, Right, Wrong, A> operator first(const A& a, Swap<id, Right, Wrong>) { \
    return {a};                                                                  \
  }                                                                              \
  template <int id, class Right, class Wrong, class A, class B>                  \
  auto operator second(const Half<id, Right, Wrong, A>& half, const B& b) {      \
    return decide(half, b);                                                      \
  }
TAMIS_MUTANT_HALVES(<, >)
TAMIS_MUTANT_HALVES(==, ==)
TAMIS_MUTANT_HALVES(+, +)
TAMIS_MUTANT_HALVES(-, -)
TAMIS_MUTANT_HALVES(*, *)
#undef TAMIS_MUTANT_HALVES

}  // namespace mutant
