// The data of `tamis demo`: 1797 handwritten digits of 8 x 8 pixels with values 0 .. 16.
//
// E. Alpaydin & C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository (1998),
// https://doi.org/10.24432/C50P49, CC BY 4.0; the test part, as shipped with scikit-learn (make_digits.py).
#pragma once

#include "tamis/data/table.h"

namespace tamis::app {

inline constexpr Index kDigitRows = 1797;
inline constexpr Index kDigitSide = 8;

// The digits as a table, with their classes under "digit".
Table read_digits(Context& context);

}  // namespace tamis::app
