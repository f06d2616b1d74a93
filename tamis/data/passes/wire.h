// What a worker runs for the passes that are sent to it (remote.h says who sends them, pass.h what they are).
#pragma once

#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/data/stores/remote.h"
#include "tamis/linalg/archive.h"

namespace tamis {

struct RemoteAnswer {
  Bytes result;
  RemotePart left;  // what the pass leaves with the chunk, to be handed to those that come
};

// What a pass makes of one chunk of `rows` rows, whose first is row `first` of all; `chunk` is null where the call
// reads none of them. by_row holds the chunk's part of each RowArgument of the call.
RemoteAnswer remote_partial(const std::string& pass, ByteView shared, const std::vector<ByteView>& by_row,
                            const Source* chunk, Index rows, Index first, Context& context);
// What it makes of two neighbors, `left` being the one of the earlier rows.
Bytes remote_merge(const std::string& pass, ByteView left, ByteView right);

}  // namespace tamis
