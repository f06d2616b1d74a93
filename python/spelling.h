// Messages of the core with the names that Python knows.
#pragma once

#include "python/arrays.h"
#include "tamis/base/error.h"
#include "tamis/base/warning.h"

namespace tamis::python {

// Methods by their classes and options by their parameters; the rest by the words of the function that was called:
// {"features": "n_features", "--exclude": "text_columns=[{}]"}, where {} is the value of a flag and [{}] a list of what
// it separates by commas. A flag without a word of its own is a parameter of the same name.
Speller python_names(const nb::dict& words);

nb::list spelled(const std::vector<Warning>& warnings, const Speller& speller);
// The same as pairs ("general" or "convergence", words).
nb::list spelled_with_kinds(const std::vector<Warning>& warnings, const Speller& speller);

// Does the work and gives what it throws these names.
template <class Work>
auto speaking(const Speller& speller, Work work) {
  try {
    return work();
  } catch (Error& error) {
    error.spell(speller);
    throw;
  }
}

}  // namespace tamis::python
