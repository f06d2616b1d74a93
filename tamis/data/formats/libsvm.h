// The format of libsvm and svmlight: a label, then index:value pairs with increasing indices from 1.
#pragma once

#include "tamis/data/formats/bytes.h"
#include "tamis/data/table.h"

namespace tamis {

// The file's own labels are offered under the name "label".
Reading read_libsvm(ByteStream& bytes, const ReadOptions& options, Context& context);

}  // namespace tamis
