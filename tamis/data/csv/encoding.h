// Text in UTF-16, decoded while it is read.
#pragma once

#include <memory>

#include "tamis/data/formats/bytes.h"

namespace tamis {

// UTF-16 text (of either byte order) that begins with a byte-order mark as UTF-8; all other bytes as they are. Error
// (bad_data) with the position where half a character is missing. `bytes` must outlive it.
std::unique_ptr<ByteStream> open_as_utf8(ByteStream& bytes);

}  // namespace tamis
