// Rows that live elsewhere, in the same process.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tamis/data/passes/reduce.h"
#include "tamis/data/passes/wire.h"
#include "tamis/data/stores/remote.h"

namespace tamis::support {

using MakeSource = std::function<Source(const Matrix&, Index block_rows)>;

// Workers without a network: chunks of `chunk_rows` rows, each a table of its own.
struct Workers {
  std::vector<Source> chunks;
  Index chunk_rows, rows;
  std::vector<std::string> calls;

  Workers(const Matrix& x, const MakeSource& make, Index block_rows, Index blocks)
      : chunk_rows(block_rows * blocks), rows(x.rows()) {
    for (Index first = 0; first < x.rows(); first += chunk_rows) {
      Matrix some(std::min(chunk_rows, x.rows() - first), x.cols());
      std::copy_n(x.row(first), some.size(), some.data());
      chunks.push_back(make(some, block_rows));
    }
  }

  Bytes partial(const RemoteCall& call, Index c) const {
    Context context(1);
    const Source& chunk = chunks[static_cast<std::size_t>(c)];
    std::vector<ByteView> by_row;
    for (const RowArgument& argument : call.by_row) {
      const auto* data = static_cast<const std::uint8_t*>(argument.data);
      by_row.emplace_back(data + static_cast<std::size_t>(c * chunk_rows) * argument.bytes,
                          static_cast<std::size_t>(chunk.rows()) * argument.bytes);
    }
    return remote_partial(call.pass, call.shared, by_row, chunk, c * chunk_rows, context);
  }

  std::vector<RemotePart> run(const RemoteCall& call) {
    calls.push_back(call.pass);
    const Index asked = (std::min(call.rows, rows) + chunk_rows - 1) / chunk_rows;
    const auto merge = [&](Bytes& into, Bytes&& from) { into = remote_merge(call.pass, into, from); };
    TreeMerger<Bytes, decltype(merge)> merger(asked, merge);
    std::vector<RemotePart> out;
    for (Index c = asked - 1; c >= 0; --c) {  // in no particular order
      if (call.merged) merger.add(c, partial(call, c));
    }
    for (Index c = 0; c < (call.merged ? 1 : asked); ++c) {
      const auto kept = std::make_shared<const Bytes>(call.merged ? merger.take() : partial(call, c));
      out.push_back({*kept, kept});
    }
    return out;
  }
};

inline Source remote_source(Workers& workers, const Matrix& x, Index block_rows) {
  const Source& one = workers.chunks.front();
  RemoteShape shape{x.rows(), x.cols(), one.sparse(), 0, one.store().dtype()};
  for (const Source& chunk : workers.chunks) shape.nonzeros += chunk.store().nonzeros();
  return Source(std::make_shared<RemoteStore>(
      shape, [&workers](const RemoteCall& call) { return workers.run(call); }, block_rows));
}

}  // namespace tamis::support
