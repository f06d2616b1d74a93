// Where a fit of UFCM begins: W at the principal directions, or at those of a fit of a sample, and beta with it.
#pragma once

#include <vector>

#include "tamis/data/passes/passes.h"
#include "tamis/linalg/eigen.h"
#include "tamis/select/copies.h"
#include "tamis/select/ufcm/objective.h"
#include "tamis/select/ufcm/rows.h"
#include "tamis/select/ufcm/scatter.h"
#include "tamis/select/ufcm/ufcm.h"

namespace tamis {

// A source without its constant columns; and the distinct ones among them, centered.
struct UfcmTable {
  std::vector<Index> kept;
  Source source;
  Copies copies;
  double unit;
  double trace;  // of S, in unit^2
  Centered z;
  RowGroups rows_of_w;
  ExactRows exact = {};  // where W has k rows, or k groups of them
};

struct Start {
  RitzPairs w;
  Matrix centers;  // of clusters in the space of W, after a fit of a sample
  double beta = 0;
};

// beta in the units of Z, where it is given; 0 where it is not.
double given_beta(const UfcmOptions& options, double unit);

// Whether enough rows have a weight for a sample to say anything.
bool has_rows_to_sample(const UfcmTable& table, const UfcmOptions& options);

// W and G of a fit of `count` rows, in the distinct columns and units of the table.
Start sampled_start(const UfcmTable& table, const UfcmOptions& options, Index count, Context& context);

// beta, and W where no fit of a sample gave it. `scatter`: S, or an empty matrix where it is not known.
void complete_start(const UfcmTable& table, const UfcmOptions& options, Index dims, const Matrix& scatter, Start& start,
                    Context& context);

}  // namespace tamis
