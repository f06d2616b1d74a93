// Fuzzes what travels between a client and the workers that hold its rows: a conversation in which the input damages
// messages. The first byte chooses the table and what is asked. Every three bytes after it are one damage: the number
// of the message, how, and where. It ends in an Error or in a result, whatever the damage; an internal error is the
// answer to bytes that nobody sent.
#include <algorithm>
#include <cstring>

#include "fuzz/harness.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/passes/point_passes.h"
#include "tamis/data/passes/sample.h"
#include "tamis/data/stores/remote.h"
#include "tests/support/tables.h"
#include "tests/support/workers.h"

namespace tamis {
namespace {

constexpr Index kRows = 6, kColumns = 3, kChunk = 4, kClusters = 2;

// Two chunks.
support::Workers workers_of(bool sparse) {
  constexpr double kValues[kRows][kColumns] = {{1, 0, 3}, {0, 5, 0}, {7, 8, 0}, {0, 0, 12}, {13, 0, 15}, {0, 17, 0}};
  Matrix x(kRows, kColumns);
  std::copy_n(&kValues[0][0], x.size(), x.data());
  const auto make = [&](const Matrix& rows, Index block_rows) {
    return sparse ? support::sparse(rows, block_rows) : support::dense(rows, block_rows);
  };
  return {x, make, 2, kChunk / 2};
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

void ask_for_products(const Source& remote, Context& context) {
  const Centered z(remote, column_moments(remote, context));
  const Index d = remote.cols();
  multiply(z, Matrix(d, 2, 1.0), context);
  multiply_transposed(z, Matrix(kRows, 2, 1.0), context);
  scatter_product(z, Matrix(d, 1, 1.0), context);
  Matrix sums(kClusters, d);
  move_rows(z, std::vector<int>(kRows, -1), {0, 1, 0, 1, 1, -1}, sums, context);
  gram(z, context);
}

void ask_for_rows(const Source& remote, Context& context) {
  count_not_finite(remote, context);
  column_fingerprints(remote, Fingerprint::digits, context);
  gather_rows(remote, {0, 5}, context);
  column_moments(take_rows(remote, {1, 2, 4}, context), context);  // on the way of the moments
  column_moments(take_rows(remote, {0, 5}, context), context);
}

// The center of cluster 1 is so far away that it is empty until it is given a point.
void ask_for_clusters(const Source& remote, bool fixed, Context& context) {
  const Centered z(remote, column_moments(remote, context));
  const Points<double> points = project(z, Matrix(remote.cols(), 2, 1.0), context);
  take_points(points, {1, 5}, context);
  KMeansOptions options;
  options.clusters = kClusters;
  options.iterations = 3;
  options.exchange = false;
  if (fixed) options.fixed = {-1, 0, -1, -1, 0, -1};
  Matrix centers(kClusters, 2);
  std::fill_n(centers.row(1), 2, 1e3);
  const KMeansResult found = lloyd(points, centers, options, context);
  expect(found.labels.size() == kRows &&
         std::ranges::all_of(found.labels, [](int label) { return label >= -1 && label < kClusters; }));
  lloyd_from_labels(points, {0, 1, 0, 1, 0, 1}, options, context);
}

void converse(const Source& remote, unsigned topic, Context& context) {
  switch (topic % 4) {
    case 0: return ask_for_products(remote, context);
    case 1: return ask_for_rows(remote, context);
    default: return ask_for_clusters(remote, topic % 4 == 3, context);
  }
}

void read(std::string_view bytes, Context& context) {
  const unsigned choice = take_choice(bytes), topic = choice >> 4;
  const bool sparse = (choice & 1) != 0, few = (choice & 2) != 0, scaled = (choice & 4) != 0;
  // Points stay with rows that come in blocks of the program's size; products sweep where there are several blocks.
  const Index block_rows = topic % 4 >= 2 || (choice & 8) != 0 ? kBlockRows : 2;
  support::Workers workers = workers_of(sparse);
  workers.memory_limit = context.memory_limit;
  Damage damage(bytes);
  workers.on_the_way = [&](ByteView sent) { return damage.on_the_way(sent); };
  const RemoteShape shape{kRows, kColumns, sparse, sparse ? Index{9} : kRows * kColumns, DType::f64};
  try {
    Source remote(std::make_shared<RemoteStore>(
        shape, [&](const RemoteCall& call) { return workers.run(call); }, block_rows));
    if (few) remote = remote.with_columns({0, 2});
    if (scaled) {
      remote = remote.with_column_scale(std::vector<double>(remote.cols(), 0.5));
      remote = remote.with_row_scale(std::vector<double>(kRows, 2));
    }
    if ((topic & 4) != 0) remote = remote.with_weights({1, 0, 2, 0.5, 3, 1});
    converse(remote, topic, context);
  } catch (const Error&) {
    expect(bytes.size() >= 3);  // undamaged, it ends well
  }
}

}  // namespace
}  // namespace tamis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return tamis::fuzz_one(data, size, tamis::read);
}
