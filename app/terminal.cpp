#include "app/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "app/signals.h"
#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/text/utf8.h"

namespace tamis::app {

namespace {

constexpr auto kRedraw = std::chrono::milliseconds(100);
std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  const std::string space(width - std::min(width, character_count(cell)), ' ');
  return align == TextTable::Align::left ? cell + space : space + cell;
}

}  // namespace

void print_result(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EPIPE) {
      return;
    } else if (errno != EINTR) {
      fail(ErrorCode::io, "standard output: ", std::strerror(errno));
    } else if (is_interrupted()) {
      fail(ErrorCode::interrupted, "interrupted");
    }
  }
}

void write_error_stream(std::string_view text) {
  // Nobody is left to be told where this fails.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void print_message(std::string_view message) {
  write_error_stream("tamis: " + printable(message, message.size()) + "\n");
}

std::string TextTable::to_text() const {
  std::vector<std::size_t> width(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t j = 0; j < row.size(); ++j) width[j] = std::max(width[j], character_count(row[j]));
  }
  std::string out;
  for (const auto& row : rows_) {
    for (std::size_t j = 0; j < row.size(); ++j) out += (j == 0 ? "" : "  ") + padded(row[j], width[j], columns_[j]);
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  }
  return out;
}

std::string fixed_number(double value, int digits) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return buffer;
}

std::string plus_minus(double mean, double sd) { return fixed_number(mean, 3) + " +- " + fixed_number(sd, 3); }

std::size_t columns_of_terminal(int stream) {
  constexpr std::size_t kUsual = 80;
  struct winsize size {};
  return ioctl(stream, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

ProgressBar::ProgressBar(bool enabled)
    : enabled_(enabled && isatty(STDERR_FILENO) == 1), next_(std::chrono::steady_clock::now() + kRedraw) {}

void ProgressBar::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_) return;
  const std::string line =
      line_.text(progress, now, columns_of_terminal(STDERR_FILENO) - 1);  // the last place would wrap
  if (now < next_ || line.empty()) return;
  next_ = now + kRedraw;
  drawn_ = true;
  write_error_stream("\r\x1b[K" + line);
}

void ProgressBar::clear() {
  if (drawn_) write_error_stream("\r\x1b[K");
  drawn_ = false;
}

}  // namespace tamis::app
