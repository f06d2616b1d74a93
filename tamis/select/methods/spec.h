// SPEC, unsupervised (Zhao & Liu, ICML 2007): columns that agree with the spectrum of a graph of the rows.
//
//   fh = D^1/2 f / ||D^1/2 f||,  Ln = I - D^-1/2 W D^-1/2 with eigenpairs (lambda_k, xi_k), xi_1 = v = D^1/2 1 / ||.||
//   function 1: phi1 = fh'Ln fh                            score -phi1
//   function 2: phi2 = phi1 / (1 - (fh'v)^2)               score -phi2
//   function 3: phi3 = sum_{k=2..c} (2 - lambda_k) (fh'xi_k)^2   score phi3; v is deflated explicitly
//
// A column without variation scores -2 (functions 1, 2) or -1 (function 3): last.
// Passes over X: the graph's (neighbors.h), and one or two. Memory: the graph; function 3: 5 n (c + 5) numbers.
#pragma once

#include <string>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/graph/graph.h"
#include "tamis/select/method.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

struct SpecOptions {
  Index clusters = 8;  // function 3 only
  Index function = 2;
  GraphOptions graph;
};

struct SpecPlan : Plan {
  SpecPlan(const Shape& shape, const SpecOptions& options, int threads);
};

Options describe(SpecOptions& options);
Method spec_method();
Selection spec(const Source& source, const SpecOptions& options, Context& context);

}  // namespace tamis
