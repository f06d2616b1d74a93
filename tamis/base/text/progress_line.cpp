#include "tamis/base/text/progress_line.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/message.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/text/utf8.h"

namespace tamis {

namespace {

constexpr double kLeastSeconds = 1.0;  // of a pace that is worth something
constexpr std::size_t kBarWidth = 20;
constexpr std::size_t kLongestTime = 32;  // ", up to 59 min left in this step"

double seconds_between(ProgressLine::Clock::time_point from, ProgressLine::Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

// "1,204,000"
std::string grouped(Index count) {
  const std::string digits = std::to_string(count);
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string percent(double fraction) {
  return std::to_string(static_cast<int>(100.0 * std::clamp(fraction, 0.0, 1.0))) + " %";
}

// "12 of at most 50 iterations", "nearest rows", "34 %"
std::string phase_text(const Progress& at) {
  const Steps& steps = at.steps;
  if (at.unit == Progress::Unit::bytes) {
    return steps.total > 0 ? percent(at.fraction()) : size_text(static_cast<std::uint64_t>(steps.done));
  }
  if (steps.total <= 0) return at.phase;
  if (at.unit == Progress::Unit::share) return at.phase + " " + percent(at.fraction());
  return concat(grouped(std::llround(steps.done)), " of ", steps.at_most ? "at most " : "",
                grouped(std::llround(steps.total)), " ", at.phase);
}

std::string rows_text(const Progress& at) {
  if (at.rows_done <= 0) return {};
  return concat(grouped(at.rows_done), at.rows > 0 ? " of " + grouped(at.rows) : "", " rows");
}

std::string bar(double fraction) {
  const auto done = static_cast<std::size_t>(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(kBarWidth));
  return concat("[", std::string(done, '#'), std::string(kBarWidth - done, '.'), "]");
}

std::string shortened(const std::string& text, std::size_t width) {
  if (character_count(text) <= width) return text;
  if (width < 4) return {};
  std::string out;
  std::size_t count = 0;
  for (const char c : text) {
    if (begins_character(c) && ++count > width - 3) break;
    out += c;
  }
  return out + "...";
}

}  // namespace

std::string duration_text(double seconds) {
  if (seconds < 90.0) return concat(std::max<long>(1, std::lround(seconds)), " s");
  if (seconds < 5400.0) return concat(std::lround(seconds / 60.0), " min");
  return short_number(seconds / 3600.0, 2) + " h";
}

void ProgressLine::Pace::follow(const std::string& now_what, double done, Clock::time_point now) {
  if (what != now_what || done < last) *this = {now_what, now, now, done, done};
  if (done > last) last = done, changed = now;
}

double ProgressLine::Pace::seconds_so_far(Clock::time_point now) const { return seconds_between(begun, now); }

double ProgressLine::Pace::seconds_left(double total, double piece, Clock::time_point now) const {
  const double taken = seconds_between(begun, changed);
  if (!(last > first) || taken < kLeastSeconds) return -1.0;
  const double each = taken / (last - first), left = total - last;
  return std::max({each * left - seconds_between(changed, now), each * (left - piece), 0.0});
}

std::string ProgressLine::time_text(const Progress& at, Clock::time_point now) const {
  const bool reading = at.unit == Progress::Unit::bytes;
  if (at.steps.total > 0 && at.steps.even) {
    const double left = phase_.seconds_left(at.steps.total, reading ? 0.0 : 1.0, now);
    if (left < 0) return {};
    return concat(at.steps.at_most ? "up to " : "", duration_text(left), reading ? " left" : " left in this step");
  }
  if (at.steps.total <= 0 && at.rows > 0) {
    const double left = pass_.seconds_left(static_cast<double>(at.rows), 0.0, now);
    if (left >= 0) return duration_text(left) + " left in this pass";
  }
  const double so_far = phase_.seconds_so_far(now);
  return so_far < kLeastSeconds ? std::string() : duration_text(so_far) + " so far";
}

std::string ProgressLine::text(const Progress& at, Clock::time_point now, std::size_t width) {
  phase_.follow(at.stage + '\n' + at.phase, at.steps.done, now);
  pass_.follow(std::to_string(at.pass), static_cast<double>(at.rows_done), now);
  // A pass that is over in a moment would only flicker.
  const bool long_pass = at.rows == 0 || pass_.seconds_so_far(now) >= kLeastSeconds;
  std::string line = printable(at.stage);
  const auto add = [&](const char* between, const std::string& part) {
    if (part.empty()) return;
    const std::string longer = concat(line, line.empty() ? "" : between, printable(part));
    if (character_count(longer) <= width || line.empty()) line = longer;
  };
  add(": ", phase_text(at));
  const std::string time = time_text(at, now);
  if (character_count(line) + 2 + character_count(time) <= width) {
    const std::size_t full = width;
    width -= time.empty() ? 0 : 2 + character_count(time);
    add(", ", long_pass ? rows_text(at) : std::string());
    add(", ", at.detail);
    width = full;
    add(", ", time);
  }
  const double fraction = at.fraction();
  const bool known = fraction >= 0 && (at.steps.total > 0 || long_pass);
  const std::size_t later = time.empty() ? kLongestTime : 0;  // or the bar would go when the time comes
  if (known && character_count(line) + later + kBarWidth + 3 <= width) line = bar(fraction) + " " + line;
  return shortened(line, width);
}

}  // namespace tamis
