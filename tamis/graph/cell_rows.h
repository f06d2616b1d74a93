// The rows of a table, ready to be compared cell by cell: lower bounds of squared distances from products, and the
// distances themselves. Used by cell_search.cpp only.
#pragma once

#include <algorithm>
#include <vector>

#include "tamis/graph/cells.h"
#include "tamis/graph/distances.h"
#include "tamis/graph/nearest.h"
#include "tamis/linalg/blas.h"

namespace tamis {

// Dense rows are kept in float, each less the center of its cell: products say little of rows far from 0, and nothing
// is far from its own cell.
class DenseCellRows {
 public:
  DenseCellRows(const Centered& z, const Cells& cells, Context& context)
      : z_(z), cells_(cells), local_(z.rows(), z.cols()), square_(z.rows()) {
    context.count_pass();
    context.pool().run(cells.count(), [&](Index cell) {
      std::vector<double> row(z.cols());
      for (Index at = cells.offsets[cell]; at < cells.offsets[cell + 1]; ++at) {
        load_rows(z, cells.rows[at], 1, row.data());
        square_[at] = shifted(row.data(), cells.centers.row(cell), local_.row(at));
      }
    });
  }

  DenseDistance distance() const { return DenseDistance(z_); }

  // Lower bounds of the squared distances to the rows of one cell.
  class Bounds {
   public:
    Bounds(const DenseCellRows& of, Index cell) : of_(of), cell_(cell), size_(of.cells_.size(cell)) {
      const double* square = of.square_.data() + of.cells_.offsets[cell];
      for (Index j = 0; j < size_; ++j) part_.push_back(static_cast<float>(square[j] * (1 - of.rounding())));
    }
    // Of the rows at these positions in the order of cells: one row of bounds each.
    const float* compute(const std::int32_t* positions, Index count) {
      const Index d = of_.z_.cols();
      point_.resize(count * d);
      bound_.resize(count * size_);
      for (Index i = 0; i < count; ++i) {
        const float own = take(positions[i], point_.data() + i * d);
        float* to = bound_.data() + i * size_;
        for (Index j = 0; j < size_; ++j) to[j] = own + part_[j];
      }
      blas::gemm(false, true, count, size_, d, -2.0F, point_.data(), d, of_.local_.row(of_.cells_.offsets[cell_]), d,
                 1.0F, bound_.data(), size_);
      return bound_.data();
    }

   private:
    // A row seen from the center of this cell; returns what it adds to bounds. Rounding grows with what was stored,
    // too.
    float take(Index position, float* to) {
      const Index own_cell = of_.cells_.cell[of_.cells_.rows[position]], d = of_.z_.cols();
      const float* from = of_.local_.row(position);
      if (own_cell != seen_) {
        shift_.resize(d);
        for (Index j = 0; j < d; ++j) shift_[j] = of_.cells_.centers(cell_, j) - of_.cells_.centers(own_cell, j);
        seen_ = own_cell;
      }
      const double square = of_.shifted(from, shift_.data(), to);
      return static_cast<float>(square - of_.rounding() * std::max(square, of_.square_[position]) - of_.underflow());
    }

    const DenseCellRows& of_;
    Index cell_, size_, seen_ = -1;
    std::vector<float> part_, point_, bound_;
    std::vector<double> shift_;
  };

 private:
  // to = from - center; its square.
  template <class From>
  double shifted(const From* from, const double* center, float* to) const {
    const Index d = z_.cols();
    for (Index j = 0; j < d; ++j) to[j] = static_cast<float>(static_cast<double>(from[j]) - center[j]);
    float lanes[8] = {};
    for (Index j = 0; j < d; ++j) lanes[j % 8] += to[j] * to[j];
    double sum = 0;
    for (const float lane : lanes) sum += static_cast<double>(lane);
    return sum;
  }
  double rounding() const { return rounding_of_products<float>(z_.cols()); }
  double underflow() const { return underflow_of_products<float>(z_.cols()); }

  const Centered& z_;
  const Cells& cells_;
  BasicMatrix<float> local_;    // in the order of cells
  std::vector<double> square_;  // of its rows
};

// Sparse rows as they are.
class SparseCellRows {
 public:
  SparseCellRows(const Centered& z, const Cells& cells, Context& context)
      : cells_(cells), cols_(z.cols()), rows_(gather_entries(z, context)), square_(z.rows()) {
    for (std::size_t i = 0; i < square_.size(); ++i) {
      for (Index k = rows_.offsets[i]; k < rows_.offsets[i + 1]; ++k) square_[i] += rows_.values[k] * rows_.values[k];
    }
  }

  SparseDistance distance() const { return SparseDistance(rows_); }

  class Bounds {
   public:
    // The entries of the cell, column by column.
    Bounds(const SparseCellRows& of, Index cell) : of_(of), size_(of.cells_.size(cell)) {
      Entries own{{0}, {}, {}};
      for (Index at = of.cells_.offsets[cell]; at < of.cells_.offsets[cell] + size_; ++at) {
        const Index row = of.cells_.rows[at];
        for (Index k = of.rows_.offsets[row]; k < of.rows_.offsets[row + 1]; ++k) {
          own.columns.push_back(of.rows_.columns[k]);
          own.values.push_back(of.rows_.values[k]);
        }
        own.offsets.push_back(static_cast<Index>(own.columns.size()));
        part_.push_back(of.part(row));
      }
      columns_ = transposed(own, of.cols_);
    }
    const float* compute(const std::int32_t* positions, Index count) {
      bound_.resize(count * size_);
      for (Index i = 0; i < count; ++i) fill(of_.cells_.rows[positions[i]], bound_.data() + i * size_);
      return bound_.data();
    }

   private:
    void fill(Index row, float* to) {
      sum_ = part_;
      for (Index k = of_.rows_.offsets[row]; k < of_.rows_.offsets[row + 1]; ++k) {
        const Index column = of_.rows_.columns[k];
        const double value = -2 * of_.rows_.values[k];
        for (Index q = columns_.offsets[column]; q < columns_.offsets[column + 1]; ++q) {
          sum_[columns_.columns[q]] += value * columns_.values[q];
        }
      }
      const double own = of_.part(row);
      for (Index j = 0; j < size_; ++j) to[j] = static_cast<float>(own + sum_[j]);
    }

    const SparseCellRows& of_;
    Index size_;
    Entries columns_;
    std::vector<double> part_, sum_;
    std::vector<float> bound_;
  };

 private:
  // What a row adds to bounds, which end in float.
  double part(Index row) const {
    const double rounding = rounding_of_products<double>(cols_) + rounding_of_products<float>(0);
    return (1 - rounding) * square_[row] - underflow_of_products<float>(1);
  }

  const Cells& cells_;
  Index cols_;
  Entries rows_;
  std::vector<double> square_;
};

}  // namespace tamis
