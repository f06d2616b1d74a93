// How many numbers a method holds at its peak, by the shape of its table.
#pragma once

#include <string>

#include "tamis/base/options.h"

namespace tamis {

struct Shape {
  double n, d, entries;  // stored numbers
  bool sparse;
  double threads;
  double width = 1.0;  // of a stored number, in units of 8 bytes
};

// The value of a numeric option; `otherwise` where there is none or it is unset.
double numeric(const Options& options, const std::string& name, double otherwise);

// Of the rows that guided looks at.
Shape guided_shape(const Shape& x, const Options& options);

// How ufcm.cpp, scatter.cpp and principal.cpp go about a shape.
struct UfcmPlan {
  UfcmPlan(const Shape& x, const Options& options);
  double clusters, dims;
  bool sampled;               // a fit of a sample comes first
  bool scatter, gram;         // alpha is not 1; X'X is formed
  bool exact;                 // all its eigenvectors are taken
  bool small_gram, few_rows;  // first directions of X'X, of XX'
};

// How mcfs.cpp sees the columns, and how many of them its paths ask for at most.
struct McfsPlan {
  McfsPlan(const Shape& x, const Options& options);
  double clusters, active, columns;
  bool gram;
};

// Numbers of 8 bytes beyond the table.
double footprint(const std::string& method, const Shape& x, const Options& options);

// Bytes of the program itself when the method has run on next to nothing: pages of code, stacks, and of BLAS.
double program_footprint(const std::string& method, double threads);

}  // namespace tamis
