// Products and small decompositions of the d x c and c x c matrices that methods work with.
#pragma once

#include <vector>

#include "tamis/base/random.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

Matrix product(const Matrix& a, const Matrix& b);                   // A B
Matrix product_transposed_left(const Matrix& a, const Matrix& b);   // A'B
Matrix product_transposed_right(const Matrix& a, const Matrix& b);  // AB'
// C += alpha A B
void add_product(double alpha, const Matrix& a, const Matrix& b, Matrix& c);

double squared_norm(const Matrix& a);          // sum of squares
double dot(const Matrix& a, const Matrix& b);  // tr(A'B)
Matrix first_columns(const Matrix& a, Index count);
Matrix hstack(const Matrix& a, const Matrix& b);
Matrix transposed(const Matrix& a);
void scale_rows(const std::vector<double>& by, Matrix& a);

// Independent standard normal numbers.
Matrix normal_matrix(Index rows, Index cols, const Random& random);

// All eigenpairs of a symmetric matrix, largest first; vectors are columns.
struct EigenPairs {
  std::vector<double> values;
  Matrix vectors;
};
EigenPairs symmetric_eigen(Matrix a);
EigenPairs symmetric_eigen_largest(const Matrix& a, Index count);

}  // namespace tamis
