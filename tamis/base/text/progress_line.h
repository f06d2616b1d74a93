// Progress as one line of text: what runs, how far it is, and the time left where there is a basis for it: the pace of
// a phase or pass so far, over what is left of it. Where a phase may end early, the time is an upper bound and says so.
#pragma once

#include <chrono>
#include <string>

#include "tamis/base/progress.h"

namespace tamis {

// "12 s", "3 min", "1.5 h"
std::string duration_text(double seconds);

class ProgressLine {
 public:
  using Clock = std::chrono::steady_clock;

  // At most `width` characters wide. To be called often: the pace follows from the calls.
  std::string text(const Progress& progress, Clock::time_point now, std::size_t width);

 private:
  // How fast something has gone since it began.
  struct Pace {
    std::string what;
    Clock::time_point begun, changed;
    double first = 0, last = 0;

    void follow(const std::string& now_what, double done, Clock::time_point now);
    double seconds_so_far(Clock::time_point now) const;
    // Below 0 where nothing is known. `piece` is what cannot be seen to be half done.
    double seconds_left(double total, double piece, Clock::time_point now) const;
  };

  std::string time_text(const Progress& progress, Clock::time_point now) const;

  Pace phase_, pass_;
};

}  // namespace tamis
