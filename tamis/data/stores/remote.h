// Rows that live elsewhere: a store that holds none of them, and what is computed where they are.
//
// A pass over a RemoteStore is a RemoteCall. Whoever runs it cuts the rows into chunks of 2^k blocks each (the last may
// be shorter), has remote_partial() (wire.h) computed where each chunk is, and merges neighbors by remote_merge():
// (0,1), (2,3), ... then pairs of pairs, as reduce.h merges blocks. Such a chunk is a whole branch of the tree over the
// blocks, so the result has the bits that it has in memory, whatever the chunks are and wherever they lie.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tamis/data/source.h"
#include "tamis/linalg/archive.h"

namespace tamis {

// Something that belongs to single rows: `bytes` for each of the n, or what an earlier call left with them.
struct RowArgument {
  const void* data = nullptr;
  std::size_t bytes = 0;
  std::shared_ptr<const void> left = nullptr;
};

struct RemoteCall {
  std::string pass;
  Bytes shared;                     // what every chunk is told
  std::vector<RowArgument> by_row;  // a chunk is told what belongs to its own rows
  Index rows = 0;                   // chunks that begin before this row are asked: n, or fewer
  bool merged = true;               // one result, merged along the tree; else one for each chunk asked, in order
  bool reads = true;                // the rows themselves; else only what belongs to them
  bool leaves = false;              // something with each chunk, for calls to come
};

// A result, and what keeps it alive.
struct RemotePart {
  ByteView bytes;
  std::shared_ptr<const void> lease;
};

struct RemoteResults {
  std::vector<RemotePart> parts;
  std::shared_ptr<const void> left;  // what stands for that which the call left; it is there as long as this is held
};

struct RemoteShape {
  Index rows = 0, cols = 0;
  bool sparse = false;
  Index nonzeros = 0;  // stored entries; rows * cols where dense
  DType dtype = DType::f64;
};

class RemoteStore final : public Store {
 public:
  using Run = std::function<RemoteResults(const RemoteCall&)>;
  // Some of the rows (increasing) as a store of their own, where they are.
  using Take = std::function<std::shared_ptr<const Store>(const std::vector<Index>&)>;

  RemoteStore(const RemoteShape& shape, Run run, Index block_rows = kBlockRows, Take take = nullptr);

  bool sparse() const override { return shape_.sparse; }
  Index nonzeros() const override { return shape_.nonzeros; }
  DType dtype() const override { return shape_.dtype; }
  bool in_memory() const override { return false; }
  std::uint64_t resident_bytes() const override { return 0; }
  // Error(internal): what asks for a block is not a pass that can be sent (pass.h).
  Block block(Index b) const override;

  RemoteResults run(const RemoteCall& call) const;
  // Null where whoever holds the rows cannot take some of them.
  std::shared_ptr<const Store> take(const std::vector<Index>& rows) const { return take_ ? take_(rows) : nullptr; }

 private:
  RemoteShape shape_;
  Run run_;
  Take take_;
};

// What a pass left with the rows of a store, for passes to come.
struct LeftRows {
  const RemoteStore* store = nullptr;  // null where nothing is left elsewhere
  std::shared_ptr<const void> handle;
};

}  // namespace tamis
