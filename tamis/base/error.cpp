#include "tamis/base/error.h"

namespace tamis {

void throw_error(ErrorCode code, std::initializer_list<Part> parts) { throw Error(code, Message::of(parts)); }

}  // namespace tamis
