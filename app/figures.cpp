#include "app/figures.h"

#include <CLI/CLI.hpp>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"

namespace tamis::app {

namespace {

// One for the process, as a process runs one command.
const FigureSaver* figure_saver = nullptr;

}  // namespace

void set_figure_saver(const FigureSaver& saver) { figure_saver = &saver; }

void add_figures_flag(CLI::App& app, std::string& format) {
  app.add_option("--figures", format,
                 "Also save each figure of report.html to DIR/figures, as svg or png (Python package's command only)")
      ->type_name("WORD");
}

void require_figures(const std::string& command, const std::string& format, const std::string& output) {
  if (format.empty()) return;
  require(format == "svg" || format == "png", ErrorCode::usage, "figures = ", printable(format), ", need svg or png");
  require(!output.empty(), ErrorCode::usage, command, ": --figures without --output, need a folder");
  require(figure_saver != nullptr && *figure_saver, ErrorCode::usage, "figures = ", format,
          ": the native command cannot save figures; use the tamis command of the Python package (pip install "
          "'tamis[figures]') or the button below each figure of report.html");
  (*figure_saver)("", format);
}

void save_figures(const std::string& format, const std::string& output) {
  if (!format.empty()) (*figure_saver)(output, format);
}

}  // namespace tamis::app
