// Anderson acceleration of a fixed-point iteration s <- F(s): a step to where the last moves F(s) - s, taken as linear
// in s, would cancel (Walker & Ni 2011, type II). Near the solution it does with a few vectors what GMRES does for
// linear systems; far from it a step may be bad, and is then taken back to the plain one (Zhang, O'Donoghue & Boyd
// 2020).
//
// Differences are held in float: they steer, and vanish at the solution, so its accuracy does not depend on them.
#pragma once

#include <vector>

#include "tamis/base/types.h"
#include "tamis/linalg/matrix.h"

namespace tamis {

class Anderson {
 public:
  Anderson(Index size, Index memory);

  // F(s) - s of this iteration, in units in which its squares compare; to be filled in before `correction`.
  std::vector<float>& move() { return move_; }
  // What to add to F(s), in the same units.
  const std::vector<float>& correction();
  // The next iteration is another one, or starts elsewhere.
  void forget();

 private:
  bool has_grown();
  void remember();
  std::vector<double> coefficients() const;

  Index memory_, held_ = 0, next_ = 0;
  bool first_ = true;
  double least_ = 0;  // the shortest move since `forget`
  std::vector<float> move_, last_move_, correction_;
  std::vector<std::vector<float>> moves_;   // how the move changed, in the last steps
  std::vector<std::vector<float>> images_;  // and F(s) with it
  Matrix products_;                         // of moves_
};

}  // namespace tamis
