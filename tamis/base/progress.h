// How far a run is, told in what is known: pieces that are done, and pieces that there are. Nothing is guessed; who
// shows it may tell the time left from the pace so far (text/progress_line.h).
#pragma once

#include <string>

#include "tamis/base/types.h"

namespace tamis {

// What a phase consists of.
struct Steps {
  double done = 0, total = 0;  // total 0: nobody knows
  bool at_most = false;        // it may end before `total`
  bool even = true;            // all take about equally long, so that the time left follows from the time so far
};

struct Progress {
  enum class Unit { items, bytes, share };

  std::string stage;   // what runs: "reading table.csv", "ufcm"
  std::string phase;   // what it is doing: "nearest rows"; what is counted where steps are: "iterations"
  std::string detail;  // more on it: "objective 12.5"
  Unit unit = Unit::items;
  Steps steps;
  // Rows that one pass of the phase has gone through, of so many (0: nobody knows). Each pass has its own number.
  Index rows_done = 0, rows = 0, pass = 0;

  // Of the phase, or of its pass where the phase has no steps; below 0 where nobody knows.
  double fraction() const {
    if (steps.total > 0) return steps.done / steps.total;
    return rows > 0 ? static_cast<double>(rows_done) / static_cast<double>(rows) : -1.0;
  }
};

}  // namespace tamis
