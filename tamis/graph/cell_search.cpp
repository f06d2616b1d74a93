#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tamis/base/random.h"
#include "tamis/graph/cell_rows.h"
#include "tamis/graph/cells.h"
#include "tamis/graph/nearest.h"

namespace tamis {

namespace {

constexpr Index kCheckedRows = 512;                 // whose nearest rows are found exactly, to measure the recall
constexpr Index kVisits = 1 << 22;                  // of rows to cells that are known at a time
constexpr double kTooMany = 0.5;                    // part of the cells from which comparing all pairs once is cheaper
constexpr double kSpare = 0.25;                     // of what may be missed, kept for the error of a sample
constexpr std::uint64_t kCheckStream = 0x63656c6c;  // of the seed

bool before(const double* distance, Index a, Index b) {
  return distance[a] < distance[b] || (distance[a] == distance[b] && a < b);
}

// The nearest cells of one row after the other. The next row is likely to be close to the last one, so that most cells
// are passed over.
class NearestCells {
 public:
  NearestCells(Index cells, Index count) : count_(count), none_(cells, -std::numeric_limits<double>::infinity()) {}
  // Those that rank from `from` on, up to the count, in no order.
  void of(const double* distance, Index from, std::int32_t* to) {
    const auto cells = static_cast<Index>(none_.size());
    found_.resize(none_.size());
    Index found = kernels<double>().find_below(cells, distance, limit_, none_.data(), found_.data());
    if (found < count_) {
      found = cells;
      std::iota(found_.begin(), found_.end(), 0);
    }
    found_.resize(found);
    const auto nearer = [&](std::int32_t a, std::int32_t b) { return before(distance, a, b); };
    const auto last = found_.begin() + count_ - 1;
    std::nth_element(found_.begin(), last, found_.end(), nearer);
    const double least = *std::min_element(distance, distance + cells);
    limit_ = distance[*last] + kSlack * (distance[*last] - least);
    if (from > 0) std::nth_element(found_.begin(), found_.begin() + from, found_.begin() + count_, nearer);
    std::copy_n(found_.begin() + from, count_ - from, to);
  }

 private:
  static constexpr double kSlack = 0.2;
  Index count_;
  double limit_ = -std::numeric_limits<double>::infinity();
  std::vector<double> none_;
  std::vector<std::int32_t> found_;
};

// The rows that are compared with each cell.
struct Visitors {
  std::vector<Index> offsets;
  std::vector<std::int32_t> positions;  // in the order of cells
};

template <class Rows>
class CellSearch {
 public:
  CellSearch(const Centered& z, const CellPoints& points, const Cells& cells, Neighbors& out, Context& context)
      : points_(points), cells_(cells), rows_(z, cells, context), out_(out), context_(context), board_(out) {}

  // The exact neighbors of a few rows, which `out` is measured by.
  void check_rows() {
    checked_ = sample_rows(points_.rows(), std::min(kCheckedRows, points_.rows()), mix64(context_.seed ^ kCheckStream));
    known_.count = out_.count;
    known_.index.resize(checked_.size() * out_.count);
    known_.distance.resize(known_.index.size());
    Nearest::clear(known_);
    std::vector<std::int32_t> place(points_.rows()), positions;
    for (std::size_t at = 0; at < place.size(); ++at) place[cells_.rows[at]] = static_cast<std::int32_t>(at);
    for (const Index row : checked_) positions.push_back(place[row]);
    Board board(known_);
    for_each_cell([&](Index cell) {
      typename Rows::Bounds bounds(rows_, cell);
      auto distance = rows_.distance();
      const Index size = cells_.size(cell);
      const std::vector<float> none(size, -std::numeric_limits<float>::infinity());
      std::vector<std::int32_t> near(none.size());
      for_each_bound(bounds, positions.data(), static_cast<Index>(positions.size()), cell,
                     [&](Index i, Index at, const float* row) {
                       Last last = board.last(at);
                       const Index count = kernels<float>().find_below(size, row, rounded_up<float>(last.distance),
                                                                       none.data(), near.data());
                       for (Index h = 0; h < count; ++h) {
                         const Index other = cells_.rows[cells_.offsets[cell] + near[h]];
                         if (other == i || row[near[h]] > last.distance) continue;
                         last = board.offer(at, other, distance(i, other));
                       }
                     });
    });
  }

  // The smallest number of nearest cells in which that part of the known neighbors is found, from one side or the
  // other.
  Index probes_for(double recall) {
    std::vector<Index> ranks(known_.index.size());
    context_.pool().run(static_cast<Index>(checked_.size()), [&](Index s) {
      for (Index q = 0; q < known_.count; ++q) {
        const Index i = checked_[s], j = known_.index[s * known_.count + q];
        ranks[s * known_.count + q] = std::min(rank(i, cells_.cell[j]), rank(j, cells_.cell[i]));
      }
    });
    std::sort(ranks.begin(), ranks.end());
    const auto enough = static_cast<std::size_t>(std::ceil(recall * static_cast<double>(ranks.size())));
    return ranks[std::max<std::size_t>(enough, 1) - 1] + 1;
  }

  void within_cells() {
    for_each_cell([&](Index cell) {
      typename Rows::Bounds bounds(rows_, cell);
      auto distance = rows_.distance();
      Opposite<float> others(board_, cells_.rows.data() + cells_.offsets[cell], 0, cells_.size(cell));
      std::vector<std::int32_t> own(cells_.size(cell));
      std::iota(own.begin(), own.end(), static_cast<std::int32_t>(cells_.offsets[cell]));
      for_each_bound(bounds, own.data(), static_cast<Index>(own.size()), cell,
                     [&](Index i, Index, const float* row) { others.seed(i, out_.count, row, distance); });
    });
  }

  // Every row with the rows of its nearest cells; a row that has too few neighbors then with those of more.
  void probe_all(Index probes) {
    std::vector<std::int32_t> positions(points_.rows());
    std::iota(positions.begin(), positions.end(), 0);
    for (Index from = 0, to = probes; !positions.empty(); from = to, to = std::min(2 * to, cells_.count())) {
      const Index wave = std::max(kPointsAtOnce, kVisits / (to - from));
      for (Index first = 0; first < static_cast<Index>(positions.size()); first += wave) {
        const Index count = std::min(wave, static_cast<Index>(positions.size()) - first);
        probe(visitors_of(positions.data() + first, count, from, to));
      }
      std::erase_if(positions, [&](std::int32_t at) { return std::isfinite(board_.last(cells_.rows[at]).distance); });
      if (to == cells_.count()) return;
    }
  }

  // The part of the known neighbors that were found, or others as near.
  double recall() const {
    Index found = 0;
    const Index k = known_.count;
    for (std::size_t s = 0; s < checked_.size(); ++s) {
      const double farthest = known_.distance[(static_cast<Index>(s) + 1) * k - 1];
      for (Index q = 0; q < k; ++q) found += out_.distance[checked_[s] * k + q] <= farthest ? 1 : 0;
    }
    return static_cast<double>(found) / static_cast<double>(known_.index.size());
  }

 private:
  template <class Task>
  void for_each_cell(Task task) {
    context_.pool().run(cells_.count(), [&](Index cell) {
      context_.check_cancelled();
      task(cell);
    });
  }

  void probe(const Visitors& visitors) {
    for_each_cell([&](Index cell) {
      const Index begin = visitors.offsets[cell], end = visitors.offsets[cell + 1];
      if (begin == end) return;
      typename Rows::Bounds bounds(rows_, cell);
      auto distance = rows_.distance();
      Opposite<float> others(board_, cells_.rows.data() + cells_.offsets[cell], 0, cells_.size(cell));
      for_each_bound(bounds, visitors.positions.data() + begin, end - begin, cell,
                     [&](Index i, Index, const float* row) { others.meet(i, row, others.size(), distance); });
    });
  }

  // visit(row, which of the positions, its bounds), a product at a time.
  template <class Visit>
  void for_each_bound(typename Rows::Bounds& bounds, const std::int32_t* positions, Index count, Index cell,
                      Visit visit) {
    for (Index first = 0; first < count; first += kPointsAtOnce) {
      const Index some = std::min(kPointsAtOnce, count - first);
      const float* row = bounds.compute(positions + first, some);
      for (Index i = 0; i < some; ++i, row += cells_.size(cell)) {
        visit(Index{cells_.rows[positions[first + i]]}, first + i, row);
      }
    }
  }

  // How many cells are nearer to a row than the given one; ties by index.
  Index rank(Index row, Index cell) const {
    Matrix point(1, points_.dims()), distance(1, cells_.count());
    points_.load(row, point.data());
    center_distances(cells_, point, distance);
    Index nearer = 0;
    for (Index k = 0; k < cells_.count(); ++k) nearer += before(distance.row(0), k, cell) ? 1 : 0;
    return nearer;
  }

  // The cells that rank from `from` up to `to` among the nearest of each of these rows, but for its own, turned into
  // the rows that visit each cell.
  Visitors visitors_of(const std::int32_t* positions, Index count, Index from, Index to) {
    const Index each = to - from;
    std::vector<std::int32_t> visited(count * each);
    context_.pool().run((count + kPointsAtOnce - 1) / kPointsAtOnce, [&](Index task) {
      const Index begin = task * kPointsAtOnce, some = std::min(kPointsAtOnce, count - begin);
      Matrix points(some, points_.dims()), distance(some, cells_.count());
      for (Index i = 0; i < some; ++i) points_.load(cells_.rows[positions[begin + i]], points.row(i));
      center_distances(cells_, points, distance);
      NearestCells nearest(cells_.count(), to);
      for (Index i = 0; i < some; ++i) {
        nearest.of(distance.row(i), from, visited.data() + (begin + i) * each);
      }
    });
    return turned(positions, visited, each);
  }

  Visitors turned(const std::int32_t* positions, const std::vector<std::int32_t>& visited, Index each) const {
    Visitors out;
    out.offsets.assign(cells_.offsets.size(), 0);
    const auto for_each_visit = [&](auto visit) {
      for (std::size_t v = 0; v < visited.size(); ++v) {
        const Index position = positions[static_cast<Index>(v) / each];
        if (visited[v] != cells_.cell[cells_.rows[position]]) visit(visited[v], position);
      }
    };
    for_each_visit([&](std::int32_t cell, Index) { ++out.offsets[cell + 1]; });
    std::partial_sum(out.offsets.begin(), out.offsets.end(), out.offsets.begin());
    out.positions.resize(out.offsets.back());
    std::vector<Index> next(out.offsets.begin(), out.offsets.end() - 1);
    for_each_visit([&](std::int32_t cell, Index at) { out.positions[next[cell]++] = static_cast<std::int32_t>(at); });
    return out;
  }

  const CellPoints& points_;
  const Cells& cells_;
  Rows rows_;
  Neighbors& out_;
  Context& context_;
  Board board_;
  std::vector<Index> checked_;
  Neighbors known_;  // of checked_
};

template <class Rows>
bool search(const Centered& z, const CellPoints& points, const Cells& cells, double recall, Neighbors& out,
            Context& context) {
  CellSearch<Rows> search(z, points, cells, out, context);
  search.check_rows();
  out.cells = cells.count();
  out.probes = search.probes_for(recall + kSpare * (1 - recall));
  if (static_cast<double>(out.probes) > kTooMany * static_cast<double>(out.cells)) return false;
  search.within_cells();
  search.probe_all(out.probes);
  out.recall = search.recall();
  return true;
}

}  // namespace

bool search_cells(const Centered& z, double recall, Neighbors& out, Context& context) {
  const CellPoints points(z, context);
  const Cells cells = divide(points, context);
  const bool sparse = z.source().sparse();
  const bool done = sparse ? search<SparseCellRows>(z, points, cells, recall, out, context)
                           : search<DenseCellRows>(z, points, cells, recall, out, context);
  if (!done) out.probes = out.cells;
  return done;
}

}  // namespace tamis
