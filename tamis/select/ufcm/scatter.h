// S V = Z'(Z V) by the cheaper side: a d x d Gram matrix where it pays, two products with the data where not.
#pragma once

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"
#include "tamis/select/ufcm/plan.h"

namespace tamis {

class Scatter {
 public:
  Scatter(const Centered& z, ScatterPath path, Context& context);
  Matrix times(const Matrix& v) const;
  // S_CC of the columns C (increasing), and S_CC V.
  Matrix among(const std::vector<Index>& columns) const;
  Matrix times_among(const std::vector<Index>& columns, const Matrix& v) const;
  Matrix whole() const;                           // S itself, whatever the path; for few columns
  const Matrix& matrix() const { return gram_; }  // empty on the path of products

 private:
  const Centered& z_;
  Context& context_;
  Matrix gram_;  // empty on the other path
};

}  // namespace tamis
