// S V = Z'(Z V) by the cheaper side: a d x d Gram matrix where it pays, two products with the data where not.
#pragma once

#include "tamis/base/context.h"
#include "tamis/data/passes/passes.h"

namespace tamis {

enum class ScatterPath { gram, products };

// The choice is a function of shape and kind alone: never of memory or threads.
// `products` is the number of products with S that a fit is expected to take.
ScatterPath choose_scatter_path(const Source& source, Index dims, Index products);

class Scatter {
 public:
  Scatter(const Centered& z, ScatterPath path, Context& context);
  Matrix times(const Matrix& v) const;
  Matrix whole() const;                           // S itself, whatever the path; for few columns
  const Matrix& matrix() const { return gram_; }  // empty on the path of products

 private:
  const Centered& z_;
  Context& context_;
  Matrix gram_;  // empty on the other path
};

}  // namespace tamis
