// How a fit of UFCM spends its work: every number that is not part of the method. bench/against_plain.py and
// bench/shapes.py measure what they are worth, in time and in the objective that is reached.
#pragma once

#include "tamis/base/types.h"

namespace tamis {

struct Schedule {
  // --- W ---
  // Steps towards the eigenvectors in an iteration: any number keeps the ascent, and U moves on before they converge.
  Index direction_steps = 4;
  Index direction_steps_near = 2;  // after a fit of a sample, and where U decides little
  double direction_gain = 0.05;    // a step that gains less than this part of the first is the last one
  // W takes longer steps once so few rows of all still change their cluster: before, it would grow around a U of no
  // worth.
  double settled = 0.005;
  Index small_w = 1 << 18;        // numbers in W up to which another one weighs little,
  Index rows_per_direction = 64;  // or with so many rows for each of its columns: it is then 1.5 % of the table
  double worth_going = 0.1;       // what a longer step must gain, in units of the tolerance
  Index exact_columns = 1024;     // up to so many columns W is solved for where alpha > 1 (directions.cpp says why)

  // With `exact`: steps at fixed U at most (a few are usual), and of the solver for more than exact_columns rows of W.
  Index row_steps = 10;
  Index row_solver_steps = 60;

  // --- U ---
  double decisive_alpha = 0.5;  // where U weighs less than this it decides little, and gets less work
  // The first U decides most: it gets this many times the starts of a later one, where W has grown around U.
  Index first_restarts = 5;
  Index first_restarts_many = 2;  // with more rows than few_rows starts differ less
  Index few_rows = 4096;
  Index first_restarts_clusters = 256;  // with more clusters than this a start costs too much
  // Later starts hardly ever win, so they come every few iterations, and before a run ends.
  Index restart_every = 4;
  double restart_margin = 10;  // what they must gain, in units of the tolerance, to carry on a run that would stop
  Index restart_rows = 8192;   // they look at this many rows at most

  // --- The start ---
  // With many rows, a fit of a sample of them comes first: most iterations then cost a fraction of a pass.
  Index sample_from = 262144;  // rows from which it pays: fewer find better optima on their own
  Index sample_rows = 16384;
  Index sample_cells = 8 * 1024 * 1024;  // numbers in the sample at most: 64 MB
  Index sample_least = 2048;             // rows, and of each cluster, without which a sample says too little
  Index sample_rows_per_cluster = 50;
  Index sample_restarts = 2;  // starts are cheap there, and decide where the whole fit ends

  // Products with S that a fit takes, which decides whether S is formed; after a fit of a sample only a few are left.
  Index products = 40;
  Index products_after_sample = 12;
  Index largest_gram = 4096;  // columns up to which S may be formed: 134 MB

  Index pivoted = 2048;  // rows of W that QR puts in order at most; the others follow by their norms
};
inline constexpr Schedule kSchedule;

}  // namespace tamis
