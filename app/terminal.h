// What the command writes: results to standard output, everything else to standard error.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/base/progress.h"
#include "tamis/base/text/progress_line.h"

namespace tamis::app {

// All of it or Error(io); a reader that has gone away (EPIPE) is no error of ours. On a terminal, prose is wrapped.
void print_result(std::string_view text);
// As it is on standard error; allocates nothing.
void write_error_stream(std::string_view text);
// One line on standard error, "tamis: ...", with nothing in it that a terminal would obey; a terminal gets it wrapped
// at spaces.
void print_message(std::string_view message);

// Columns lined up by their widest cell, two spaces apart; the first row is the heading.
class TextTable {
 public:
  enum class Align { left, right };
  explicit TextTable(std::vector<Align> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  std::string to_text() const;

 private:
  std::vector<Align> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// "0.71": so many digits after the point.
std::string fixed_number(double value, int digits);
// "0.712 +- 0.031"
std::string plus_minus(double mean, double sd);

// Words in lines of at most `width` characters; all lines but the first begin with `indent` spaces.
std::string wrapped(const std::string& paragraph, std::size_t indent, std::size_t width);

// How wide the terminal behind a stream is; 80 where nobody says.
std::size_t columns_of_terminal(int stream);

// One line on a terminal, redrawn a few times a second and wiped at the end; nothing elsewhere.
class ProgressBar {
 public:
  explicit ProgressBar(bool enabled);
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  bool enabled() const { return enabled_; }  // there is a terminal
  std::chrono::milliseconds pause() const { return pause_; }
  void show(const Progress& progress);
  void clear();

 private:
  bool enabled_;
  std::chrono::milliseconds pause_{100};  // between two lines
  std::chrono::steady_clock::time_point next_;
  ProgressLine line_;
};

}  // namespace tamis::app
