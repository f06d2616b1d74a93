#include "app/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string_view>

#include "app/signals.h"
#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/text/utf8.h"

namespace tamis::app {

namespace {

constexpr std::size_t kIndentOfMessages = 2;  // of lines after the first, on a terminal

// The line of progress that is on the terminal now, which may be that of the result.
ProgressBar* drawn_bar = nullptr;

std::string padded(const std::string& cell, std::size_t width, TextTable::Align align) {
  const std::string space(width - std::min(width, character_count(cell)), ' ');
  return align == TextTable::Align::left ? cell + space : space + cell;
}

}  // namespace

namespace {

// Lines of prose that are wider than the terminal; tables have more than one space between words, JSON is for programs,
// and a command would be copied with the line ends.
std::string fitting_prose(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line(text.substr(0, end));
    const bool prose = line.find("  ") == std::string::npos && !line.starts_with('{') && !line.starts_with('[') &&
                       line.find(": tamis ") == std::string::npos;
    out += prose && character_count(line) > width ? wrapped(line, 0, width) : line;
    if (end < text.size()) out += '\n';
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return out;
}

void write_result(std::string_view text) {
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

}  // namespace

std::string wrapped(const std::string& paragraph, std::size_t indent, std::size_t width) {
  std::istringstream words(paragraph);
  std::string out, word;
  std::size_t column = indent;
  while (words >> word) {
    if (column > indent && column + 1 + character_count(word) > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    out += (column > indent ? " " : "") + word;
    column += (column > indent ? 1 : 0) + character_count(word);
  }
  return out;
}

void print_result(std::string_view text) {
  if (drawn_bar != nullptr) drawn_bar->clear();
  if (isatty(STDOUT_FILENO) == 1) {
    write_result(fitting_prose(text, columns_of_terminal(STDOUT_FILENO)));
  } else {
    write_result(text);
  }
}

void write_error_stream(std::string_view text) {
  // Nobody is left to be told where this fails.
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

void print_message(std::string_view message) {
  std::string line = "tamis: " + printable(message, message.size());
  const std::size_t width = columns_of_terminal(STDERR_FILENO);
  if (isatty(STDERR_FILENO) == 1 && character_count(line) > width) line = wrapped(line, kIndentOfMessages, width);
  write_error_stream(line + "\n");
}

std::string TextTable::to_text() const {
  std::vector<std::size_t> width(columns_.size(), 0);
  for (const auto& row : rows_) {
    for (std::size_t j = 0; j < row.size(); ++j) width[j] = std::max(width[j], character_count(row[j]));
  }
  // A last column of words is wrapped to the terminal, where there is one; below the row where it has no room beside
  // it.
  constexpr std::size_t kLeastRoom = 18, kBelow = 4;
  std::size_t before = 0;
  for (std::size_t j = 0; j + 1 < width.size(); ++j) before += width[j] + 2;
  const std::size_t screen = isatty(STDOUT_FILENO) == 1 ? columns_of_terminal(STDOUT_FILENO) : 0;
  const bool wide = columns_.back() == Align::left && screen > 0 && before + width.back() > screen && before < screen;
  const bool below = wide && before + kLeastRoom > screen;
  std::string out;
  for (auto row : rows_) {
    if (wide && row.size() == columns_.size()) {
      row.back() = below ? "\n" + std::string(kBelow, ' ') + wrapped(row.back(), kBelow, screen)
                         : wrapped(row.back(), before, screen);
    }
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

// TAMIS_PROGRESS=all shows every state at once, so that tests do not depend on the speed of a machine.
ProgressBar::ProgressBar(bool enabled) : enabled_(enabled && isatty(STDERR_FILENO) == 1) {
  const char* wanted = std::getenv("TAMIS_PROGRESS");
  if (wanted != nullptr && std::string_view(wanted) == "all") pause_ = {};
  next_ = std::chrono::steady_clock::now() + pause_;
}

void ProgressBar::show(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_) return;
  const std::string line =
      line_.text(progress, now, columns_of_terminal(STDERR_FILENO) - 1);  // the last place would wrap
  if (now < next_ || line.empty()) return;
  next_ = now + pause_;
  drawn_bar = this;
  write_error_stream("\r\x1b[K" + line);
}

void ProgressBar::clear() {
  if (drawn_bar != this) return;
  drawn_bar = nullptr;
  write_error_stream("\r\x1b[K");
}

}  // namespace tamis::app
