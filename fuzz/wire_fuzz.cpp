// Fuzzes what travels between a client and the workers that hold its rows: a conversation in which the input damages
// messages. Every three bytes are one damage: the number of the message, how, and where. It ends in an Error or in a
// result, whatever the damage; an internal error is the answer to bytes that nobody sent.
#include <cstring>

#include "fuzz/harness.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/stores/remote.h"

namespace tamis {
namespace {

constexpr Index kRows = 6, kColumns = 3, kBlock = 4;

// Two chunks, of one block each.
std::vector<Source> chunks_of(bool sparse) {
  static const std::vector<double> values = {1, 0, 3, 0, 5, 0, 7, 8, 0, 0, 0, 12, 13, 0, 15, 0, 17, 0};
  static const std::vector<std::int64_t> offsets = {0, 2, 3, 5, 6, 8, 9};
  static const std::vector<std::int32_t> columns = {0, 2, 1, 0, 1, 2, 0, 2, 1};
  static const std::vector<double> stored = {1, 3, 5, 7, 8, 12, 13, 15, 17};
  std::vector<Source> chunks;
  for (Index first = 0; first < kRows; first += kBlock) {
    const Index rows = std::min(kBlock, kRows - first);
    chunks.emplace_back(
        sparse ? make_sparse_store({rows, kColumns, offsets.data() + first, columns.data(), stored.data(), DType::f64},
                                   {}, kBlock)
               : make_dense_store({values.data() + first * kColumns, DType::f64, rows, kColumns, kColumns, 1}, {},
                                  kBlock));
  }
  return chunks;
}

class Damage {
 public:
  explicit Damage(std::string_view script) : script_(script) {}

  // The next message as it arrives.
  Bytes on_the_way(ByteView sent) {
    Bytes bytes(sent.begin(), sent.end());
    for (std::size_t at = 0; at + 2 < script_.size(); at += 3) {
      if (byte_of_script(at) == message_) apply(byte_of_script(at + 1), byte_of_script(at + 2), bytes);
    }
    ++message_;
    return bytes;
  }

 private:
  unsigned byte_of_script(std::size_t at) const { return static_cast<unsigned char>(script_[at]); }

  // A word of eight bytes becomes another number, a byte changes, or the message ends early or late.
  static void apply(unsigned how, unsigned where, Bytes& bytes) {
    static constexpr std::uint64_t kWords[] = {0,
                                               1,
                                               2,
                                               3,
                                               5,
                                               1ULL << 31,
                                               1ULL << 60,
                                               1ULL << 62,
                                               1ULL << 63,
                                               ~0ULL,
                                               0x7ff8000000000000ULL,
                                               0x7ff0000000000000ULL};
    constexpr std::size_t kCount = std::size(kWords);
    const std::size_t choice = how % (kCount + 4), at = sizeof(std::uint64_t) * where;
    if (choice < kCount && at + sizeof(std::uint64_t) <= bytes.size()) {
      std::memcpy(bytes.data() + at, &kWords[choice], sizeof(std::uint64_t));
    } else if (choice == kCount && !bytes.empty()) {
      bytes[where % bytes.size()] ^= static_cast<std::uint8_t>(1 + how / (kCount + 4));
    } else if (choice == kCount + 1) {
      bytes.resize(std::min<std::size_t>(bytes.size(), where));
    } else if (choice > kCount + 1) {
      bytes.resize(bytes.size() + where);
    }
  }

  std::string_view script_;
  unsigned message_ = 0;
};

Bytes answer_of(const RemoteCall& call, const Source& chunk, Index first, Damage& damage, Context& context) {
  const Bytes shared = damage.on_the_way(call.shared);
  std::vector<Bytes> kept;
  for (const RowArgument& argument : call.by_row) {
    const auto* data =
        static_cast<const std::uint8_t*>(argument.data) + static_cast<std::size_t>(first) * argument.bytes;
    kept.push_back(damage.on_the_way({data, static_cast<std::size_t>(chunk.rows()) * argument.bytes}));
  }
  const std::vector<ByteView> by_row(kept.begin(), kept.end());
  return damage.on_the_way(remote_partial(call.pass, shared, by_row, chunk, first, context));
}

// Everything that a client asks for.
void converse(const Source& remote, Context& context) {
  const Centered z(remote, column_moments(remote, context));
  const Index d = remote.cols();
  multiply(z, Matrix(d, 2, 1.0), context);
  multiply_transposed(z, Matrix(kRows, 2, 1.0), context);
  scatter_product(z, Matrix(d, 1, 1.0), context);
  Matrix sums(2, d);
  move_rows(z, std::vector<int>(kRows, -1), {0, 1, 0, 1, 1, -1}, sums, context);
  gather_rows(remote, {0, 5}, context);
  if (!remote.sparse()) gram(z, context);
}

void read(std::string_view bytes, Context& context) {
  const unsigned choice = take_choice(bytes);
  const bool sparse = (choice & 1) != 0;
  const std::vector<Source> chunks = chunks_of(sparse);
  Damage damage(bytes);
  const auto run = [&](const RemoteCall& call) {
    std::vector<Bytes> answers;
    for (std::size_t c = 0; c < (call.rows > kBlock ? 2U : 1U); ++c) {
      answers.push_back(answer_of(call, chunks[c], static_cast<Index>(c) * kBlock, damage, context));
    }
    if (call.merged) answers = {damage.on_the_way(remote_merge(call.pass, answers[0], answers[1]))};
    std::vector<RemotePart> parts;
    for (Bytes& answer : answers) {
      const auto kept = std::make_shared<const Bytes>(std::move(answer));
      parts.push_back({*kept, kept});
    }
    return parts;
  };
  const RemoteShape shape{kRows, kColumns, sparse, sparse ? Index{9} : kRows * kColumns, DType::f64};
  try {
    const Source remote(std::make_shared<RemoteStore>(shape, run, kBlock));
    converse((choice & 2) != 0 ? remote.with_columns({0, 2}) : remote, context);
  } catch (const Error&) {
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
