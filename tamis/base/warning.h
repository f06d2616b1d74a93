// A warning: one line about a run that goes on all the same.
#pragma once

#include <string>
#include <utility>

#include "tamis/base/message.h"

namespace tamis {

struct Warning {
  // What it is about, where somebody treats it apart from the others (Python's ConvergenceWarning).
  enum class Kind { general, convergence };

  Warning(Message words, Kind about = Kind::general) : message(std::move(words)), kind(about) {}

  Message message;
  Kind kind;

  const std::string& text() const { return message.text(); }
  bool operator==(const Warning&) const = default;
};

}  // namespace tamis
