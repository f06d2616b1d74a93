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
  std::uint64_t memory_limit = 0;
  std::function<Bytes(ByteView)> on_the_way = [](ByteView bytes) { return Bytes(bytes.begin(), bytes.end()); };

  Workers(const Matrix& x, const MakeSource& make, Index block_rows, Index blocks)
      : chunk_rows(block_rows * blocks), rows(x.rows()) {
    for (Index first = 0; first < x.rows(); first += chunk_rows) {
      Matrix some(std::min(chunk_rows, x.rows() - first), x.cols());
      std::copy_n(x.row(first), some.size(), some.data());
      chunks.push_back(make(some, block_rows));
    }
  }

  using Left = std::vector<RemotePart>;

  RemoteAnswer partial(const RemoteCall& call, Index c) const {
    Context context(1);
    context.memory_limit = memory_limit;
    const Source& chunk = chunks[c];
    std::vector<Bytes> arrived;
    for (const RowArgument& argument : call.by_row) {
      const auto* left = static_cast<const Left*>(argument.left.get());
      const auto* first = static_cast<const std::uint8_t*>(argument.data) + c * chunk_rows * argument.bytes;
      arrived.push_back(
          on_the_way(left != nullptr ? left->at(c).bytes : ByteView(first, chunk.rows() * argument.bytes)));
    }
    const std::vector<ByteView> by_row(arrived.begin(), arrived.end());
    return remote_partial(call.pass, on_the_way(call.shared), by_row, call.reads ? &chunk : nullptr, chunk.rows(),
                          c * chunk_rows, context);
  }

  RemoteResults run(const RemoteCall& call) {
    calls.push_back(call.pass);
    const auto asked = static_cast<std::size_t>((std::min(call.rows, rows) + chunk_rows - 1) / chunk_rows);
    const auto merge = [&](Bytes& into, Bytes&& from) { into = on_the_way(remote_merge(call.pass, into, from)); };
    std::vector<Bytes> answers(asked);
    const auto left = std::make_shared<Left>(asked);
    for (std::size_t c = asked; c-- > 0;) {  // in no particular order
      RemoteAnswer answer = partial(call, static_cast<Index>(c));
      answers[c] = on_the_way(answer.result);
      (*left)[c] = std::move(answer.left);
    }
    if (call.merged) merge_in_tree(answers, merge);
    answers.resize(call.merged ? std::min<std::size_t>(1, asked) : asked);
    RemoteResults out;
    for (Bytes& answer : answers) {
      const auto kept = std::make_shared<const Bytes>(std::move(answer));
      out.parts.push_back({*kept, kept});
    }
    if (call.leaves) out.left = left;
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
