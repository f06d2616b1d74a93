// The named passes over the rows: all that a method may ask of its data. They alone know dense from sparse and
// where the rows live. Each is a partial result of a block and a merge along a fixed tree over the blocks, so a
// result has the same bits at any number of threads.
#pragma once

#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

// Statistics of each column of a source (its scaling applied), centered so that they survive a large offset.
struct ColumnMoments {
  Index rows = 0;
  double weight = 0.0;  // of all rows, where rows have weights; 0 where they have none
  // Squares are in units of unit^2: a power of two, 1 unless the data are far from 1 (so that squares stay in the
  // range of double, and the centered data in that of float).
  double unit = 1.0;
  std::vector<double> mean;
  std::vector<double> scatter;  // sum of (x - mean)^2, in unit^2
  std::vector<double> min, max;
  std::vector<char> varying;  // 1 where the column takes two values or more
  std::vector<Index> stored;  // entries stored (all rows where dense)

  bool varies(Index j) const { return varying[j] != 0; }
  double total() const { return weight > 0 ? weight : static_cast<double>(rows); }
  double degrees() const;          // n - 1, or weighted_degrees()
  double variance(Index j) const;  // scatter / degrees, natural units
};

// One pass, the first time; kept with the source. Throws Error(bad_data) naming row and column of the first value that
// is not finite.
ColumnMoments column_moments(const Source& source, Context& context);

// Where values are missing or infinite, counted instead of refused; per column.
std::vector<Index> count_not_finite(const Source& source, Context& context);

// Z = (X - 1 mean') / unit: what the formulas call X. Where rows have weights each row is times the root of its own,
//   Z = diag(sqrt w) (X - 1 mean') / unit,
// so that Z'Z is the weighted scatter; ZZ', Z V and Z'T follow.
class Centered {
 public:
  Centered(Source source, const ColumnMoments& moments);
  // Dense columns minus any other reference (in the store's units), divided by `unit`.
  Centered(Source source, std::vector<double> reference, double unit);
  // Some rows of a Z whose center(), scale(), shift() and has_near_centers() are known, with the roots of the weights
  // or without them.
  Centered(Source source, std::vector<double> center, std::vector<double> scale, std::vector<double> shift,
           bool has_near_centers, bool weighted);

  const Source& source() const { return source_; }
  Index rows() const { return source_.rows(); }
  Index cols() const { return source_.cols(); }
  // The given columns (increasing positions), with the same numbers.
  Centered with_columns(const std::vector<Index>& keep) const;
  // X - 1 mean' of the same mean: rows as they are, those of weight 0, too.
  Centered without_weights() const;

  // z_ij = (x_ij r_i - center_j) scale_j root_i; r is the source's row scale. scale is empty where all are 1.
  const std::vector<double>& center() const { return center_; }
  const std::vector<double>& scale() const { return scale_; }
  // Square roots of the weights of rows; empty where there are none.
  const std::vector<double>& roots() const { return roots_; }
  double root(Index row) const { return roots_.empty() ? 1.0 : roots_[row]; }
  // Sparse: what is subtracted from stored entries. The center of columns that store every row (exact at any
  // offset), 0 elsewhere, where center - shift is taken off in sum (implicit centering).
  const std::vector<double>& shift() const { return shift_; }
  // Sparse: stored entries are taken as they are (no shift, scale, row scale, weights or choice of columns).
  bool plain_entries() const { return plain_entries_; }
  // Sparse with a choice of columns: position of a store's column here, or -1; empty where all are kept.
  const std::vector<std::int32_t>& position() const { return position_; }
  // Dense: no center is far from 0 against the spread of its column, so it may be taken off a product instead of
  // every entry. A property of the values, not of how they are stored.
  bool defers_center() const { return near_centers_ && roots_.empty(); }
  bool has_near_centers() const { return near_centers_; }
  // Dense: entries are taken as they are, in runs of columns long enough to be worth it.
  bool plain_rows() const { return plain_rows_; }
  // End of the run of columns, neighbors in the store, that column j stands in.
  Index run_end(Index j) const { return run_end_[j]; }
  // Whether any column has a center other than 0.
  bool has_center() const { return has_center_; }

 private:
  void derive();

  Source source_;
  std::vector<double> center_, scale_, shift_, roots_;
  std::vector<std::int32_t> position_;
  std::vector<Index> run_end_;
  bool plain_entries_ = false, plain_rows_ = false, has_center_ = true, near_centers_ = false;
};

// Z V (n x m).
Matrix multiply(const Centered& z, const Matrix& v, Context& context);
// Z'T (d x m).
Matrix multiply_transposed(const Centered& z, const Matrix& t, Context& context);
// Z'(Z V) (d x m): S V without S. One reading of the data where there are many rows, two where not.
Matrix scatter_product(const Centered& z, const Matrix& v, Context& context);
// Z'Z (d x d).
Matrix gram(const Centered& z, Context& context);
// Z'Z_S (d x |S|) for the columns S, increasing. One reading.
Matrix gram_with(const Centered& z, const std::vector<Index>& columns, Context& context);
// Z Z' (n x n) for few rows.
Matrix gram_of_rows(const Centered& z, Context& context);

// Adds Z's rows into their clusters' sums (c x d): + into the new cluster and - from the old one for every row
// whose cluster changed; -1 is no cluster. With all of `before` -1 it is U'Z; where rows have weights it is U'diag(sqrt
// w)Z, in which a row of weight w counts w times.
void move_rows(const Centered& z, const std::vector<int>& before, const std::vector<int>& after, Matrix& sums,
               Context& context);

// `count` rows of n, one drawn from each of `count` equal stretches: increasing, spread over all of the data.
std::vector<Index> sample_rows(Index n, Index count, std::uint64_t seed);
// The given rows (increasing), dense, not centered, whatever their weights.
Matrix gather_rows(const Source& source, const std::vector<Index>& rows, Context& context);
// All rows of a source as a dense matrix, scaled, not centered: for few columns.
Matrix gather(const Source& source, Context& context);

// Rows [first, first + count) of a dense Z, one after the other.
void load_rows(const Centered& z, Index first, Index count, double* out);

// All entries of a sparse Z in compressed rows with rising columns; the implicit center is not in them.
struct Entries {
  std::vector<Index> offsets;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};
Entries gather_entries(const Centered& z, Context& context);
Entries transposed(const Entries& entries, Index cols);

// A number per column that exact copies share, and hardly any others: of rows and values, or of rows and digits,
// whatever the power of two. Rows of weight 0 do not count.
enum class Fingerprint { values, digits };
std::vector<std::uint64_t> column_fingerprints(const Source& source, Fingerprint of, Context& context);

// Squared 2-norm of every row of the source, whatever its weight.
std::vector<double> row_squared_norms(const Source& source, Context& context);

}  // namespace tamis
