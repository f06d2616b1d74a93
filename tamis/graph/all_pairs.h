// Every pair of dense rows compared once, for several distances at a time that share products. Used by the searches of
// this room only.
//
// Products in T of the rows of two tiles give lower bounds of squared distances; what they leave open is computed, in
// double, once the whole table has been seen (shortlist.h).
#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/graph/shortlist.h"
#include "tamis/linalg/kernels.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

inline constexpr Index kPairTile = 192;  // rows that are compared with as many others at a time
inline constexpr Index kPairCols = 512;  // columns of a product at a time: a panel of them stays in the cache
inline constexpr Index kPackedCells = Index{1} << 24;  // 64 MB in float: tables up to this size are packed once

// Rows in panels (points.h), all of them or a tile at a time.
template <class T>
class PanelRows {
 public:
  // Writes columns [col0, col0 + cols) of rows [first, first + count) to `out`, row by row.
  using Load = std::function<void(Index first, Index count, Index col0, Index cols, T* out)>;

  // `in_memory`: reading a part of the columns costs no more than that part.
  PanelRows(Index rows, Index cols, bool in_memory, Load load, Context& context)
      : rows_(rows), cols_(cols), in_memory_(in_memory), load_(std::move(load)) {
    if (!packs_once(rows, cols)) return;
    context.count_pass();
    const Index tiles = (rows + kPairTile - 1) / kPairTile;
    whole_.resize((rows + kPanel - 1) / kPanel * kPanel * cols);
    walk_rows(context, tiles, rows, [&](Index tile) {
      const Index first = tile * kPairTile;
      pack(first, std::min(kPairTile, rows - first), 0, cols, whole_.data() + first * cols);
    });
  }
  static bool packs_once(Index rows, Index cols) { return rows <= kPackedCells / std::max<Index>(cols, 1); }

  // Panels of the columns [col0, col0 + cols) of a tile, `step` numbers apart.
  struct Part {
    const T* panels;
    Index step;
  };
  struct Buffer {
    std::vector<T> panels;
    Index first = -1, col0 = -1, cols = -1;
  };
  Part part(Index first, Index count, Index col0, Index cols, bool own, Buffer& buffer) const {
    if (!whole_.empty()) return {whole_.data() + first * cols_ + col0 * kPanel, cols_ * kPanel};
    if (cols_ <= 2 * kPairCols || (own && !in_memory_)) {  // all columns, which stay
      const Part all = loaded(first, count, 0, cols_, buffer);
      return {all.panels + col0 * kPanel, all.step};
    }
    return loaded(first, count, col0, cols, buffer);
  }
  bool packed() const { return !whole_.empty(); }
  Index rows() const { return rows_; }

 private:
  Part loaded(Index first, Index count, Index col0, Index cols, Buffer& buffer) const {
    if (buffer.first != first || buffer.col0 != col0 || buffer.cols != cols) {
      buffer.panels.resize((count + kPanel - 1) / kPanel * kPanel * cols);
      pack(first, count, col0, cols, buffer.panels.data());
      buffer.first = first, buffer.col0 = col0, buffer.cols = cols;
    }
    return {buffer.panels.data(), cols * kPanel};
  }
  void pack(Index first, Index count, Index col0, Index cols, T* out) const {
    std::vector<T> rows(kPanel * cols);
    for (Index row = 0; row < count; row += kPanel) {
      const Index some = std::min(kPanel, count - row);
      load_(first + row, some, col0, cols, rows.data());
      std::fill(rows.begin() + some * cols, rows.end(), T(0));
      T* panel = out + row * cols;
      for (Index j = 0; j < cols; ++j) {
        for (Index i = 0; i < kPanel; ++i) panel[j * kPanel + i] = rows[i * cols + j];
      }
    }
  }

  const Index rows_, cols_;
  const bool in_memory_;
  const Load load_;
  std::vector<T> whole_;
};

// ||a||^2 + ||b||^2 - 2 a.b is off by at most this part of ||a||^2 + ||b||^2, with products of panels: d + 1 roundings
// of half an epsilon each in the sum, at most of 2 sum |a_k b_k| <= ||a||^2 + ||b||^2, and a few where numbers become T
// and bounds are formed.
template <class T>
double rounding_of_panels(Index d) {
  return 0.5 * static_cast<double>(d + 32) * static_cast<double>(std::numeric_limits<T>::epsilon());
}

// A squared distance ||y_i - y_j||^2, of rows y_i = f_i z_i in some stretches of the columns of Z.
struct PairDistance {
  std::vector<Index> stretches;  // one or two
  std::vector<double> square;    // ||y_i||^2
  std::vector<double> factor;    // f_i; empty: 1
  double rounding = 0;           // the products may be off by this part of ||y_i||^2 + ||y_j||^2,
  double underflow = 0;          // and this much
  std::function<std::function<double(Index, Index)>()> exact;  // makes what computes distances, for one task
  Neighbors* found = nullptr;
  bool ordered = true;  // nearest first, with their distances; else by index, without
};

template <class T>
class AllPairs {
 public:
  // `ends`: where the stretches of columns end.
  AllPairs(const PanelRows<T>& rows, std::vector<Index> ends, std::vector<PairDistance> distances)
      : rows_(rows), ends_(std::move(ends)) {
    for (PairDistance& distance : distances)
      searches_.push_back(std::make_unique<One>(std::move(distance), rows.rows()));
  }

  // First within tiles, so that there is something to beat.
  void run(Context& context) {
    const Index n = rows_.rows(), tiles = (n + kPairTile - 1) / kPairTile;
    for (const bool within : {true, false}) {
      if (!rows_.packed()) context.count_pass();
      walk_rows(context, tiles, n, [&](Index task) {
        const Index tile = (tiles - 1 - task) * kPairTile;
        if (within || tile > 0) compare_with(tile, std::min(kPairTile, n - tile), within, context);
      });
    }
    for (auto& search : searches_) {
      walk_rows(context, tiles, n, [&](Index tile) {
        context.check_cancelled();
        auto exact = search->distance.exact();
        for (Index i = tile * kPairTile; i < std::min((tile + 1) * kPairTile, n); ++i) {
          if (search->distance.ordered) {
            search->lists.finish(i, exact);
          } else {
            search->lists.finish_unordered(
                i, exact, [&](Index j, T lower) { return lower + search->slack[i] + search->slack[j]; });
          }
        }
      });
    }
  }

 private:
  struct One {
    One(PairDistance of, Index n) : distance(std::move(of)), lists(*distance.found, n) {
      for (const double square : distance.square) {
        parts.push_back(static_cast<T>((1 - distance.rounding) * square - distance.underflow / 2));
        slack.push_back(rounded_up<T>(2 * distance.rounding * square + distance.underflow));
      }
      for (const double factor : distance.factor) factors.push_back(static_cast<T>(factor));
    }
    PairDistance distance;
    Shortlists<T> lists;
    std::vector<T> parts, slack, factors;  // lower_ij = parts_i + parts_j - 2 f_i f_j z_i.z_j, upper - lower
  };

  struct Found {
    std::vector<std::int32_t> positions = std::vector<std::int32_t>(kPairTile);
    std::vector<T> bounds = std::vector<T>(kPairTile);
  };

  // What one task has of the products of two tiles.
  struct Products {
    std::vector<BasicMatrix<T>> of;  // each stretch
    typename PanelRows<T>::Buffer own, others;
  };

  void multiply(Index first, Index count, Index tile, Index others, Products& products) const {
    Index begin = 0;
    for (std::size_t s = 0; s < ends_.size(); begin = ends_[s++]) {
      for (Index col0 = begin; col0 < ends_[s]; col0 += kPairCols) {
        const Index cols = std::min(kPairCols, ends_[s] - col0);
        const auto own = rows_.part(first, count, col0, cols, true, products.own);
        const auto other = rows_.part(tile, others, col0, cols, false, products.others);
        for (Index i = 0; i < count; i += kPanel) {
          kernels<T>().panel_products(own.panels + i / kPanel * own.step, other.panels, other.step,
                                      (others + kPanel - 1) / kPanel, cols, col0 > begin, products.of[s].row(i),
                                      products.of[s].cols());
        }
      }
    }
  }

  void compare_with(Index tile, Index count, bool within, Context& context) {
    Products products;
    for (std::size_t s = 0; s < ends_.size(); ++s) products.of.emplace_back(kPairTile, kPairTile);
    std::vector<std::vector<T>> limits(searches_.size());
    std::vector<std::function<double(Index, Index)>> exact;
    for (std::size_t g = 0; g < searches_.size(); ++g) {
      for (Index j = 0; j < count; ++j) limits[g].push_back(searches_[g]->lists.limit(tile + j));
      exact.push_back(searches_[g]->distance.exact());
    }
    Found found;
    for (Index first = within ? tile : 0; first < (within ? tile + count : tile); first += kPairTile) {
      context.check_cancelled();
      const Index rows = within ? count : kPairTile;
      multiply(first, rows, tile, count, products);
      for (std::size_t g = 0; g < searches_.size(); ++g) {
        for (Index i = 0; i < rows; ++i) {
          compare(*searches_[g], products, i, first + i, within ? i + 1 : 0, tile, limits[g], exact[g], found);
        }
      }
    }
  }

  // Row i, row `at` of the products, with others of the tile from `begin` on.
  void compare(One& search, const Products& products, Index at, Index i, Index begin, Index tile,
               std::vector<T>& limits, const std::function<double(Index, Index)>& exact, Found& found) const {
    const std::vector<Index>& stretches = search.distance.stretches;
    DistanceBounds<T> bounds{};
    bounds.count = static_cast<Index>(limits.size()) - begin;
    bounds.products = products.of[stretches[0]].row(at) + begin;
    bounds.more = stretches.size() > 1 ? products.of[stretches[1]].row(at) + begin : nullptr;
    bounds.own = search.parts[i];
    bounds.parts = search.parts.data() + tile + begin;
    bounds.factor = search.factors.empty() ? T(2) : 2 * search.factors[i];
    bounds.factors = search.factors.empty() ? nullptr : search.factors.data() + tile + begin;
    T limit = search.lists.limit(i);
    const Index hits =
        kernels<T>().find_near(bounds, limit, limits.data() + begin, found.positions.data(), found.bounds.data());
    for (Index h = 0; h < hits; ++h) {
      const Index j = begin + found.positions[h], other = tile + j;
      const T lower = found.bounds[h], upper = lower + search.slack[i] + search.slack[other];
      if (lower <= limit) limit = search.lists.offer(i, other, lower, upper, exact);
      if (lower <= limits[j]) limits[j] = search.lists.offer(other, i, lower, upper, exact);
    }
  }

  const PanelRows<T>& rows_;
  const std::vector<Index> ends_;
  std::vector<std::unique_ptr<One>> searches_;
};

}  // namespace tamis
