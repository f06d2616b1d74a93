// The state of a fit that an earlier run left: it is read as bytes and never trusted. What could read or write outside
// of what there is, and what no run of these data can have left, is refused.
#pragma once

#include "tamis/base/error.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

inline void require_state(bool sound, const char* what) {
  require(sound, ErrorCode::bad_data, "the state of the run is damaged (", what, ")");
}

bool is_finite(const Matrix& matrix);

}  // namespace tamis
