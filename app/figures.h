// --figures: the figures of a report page as pictures beside it. Nothing in this library draws them without a browser;
// who runs the command may bring something that does, as the Python package does.
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace tamis::app {

// Draws every figure of FOLDER/report.html into FOLDER/figures, as "svg" or "png". For an empty folder it only throws
// what would keep it from drawing.
using FigureSaver = std::function<void(const std::string& folder, const std::string& format)>;

// For the process; an empty one for nobody. The caller keeps it.
void set_figure_saver(const FigureSaver& saver);

void add_figures_flag(CLI::App& app, std::string& format);

// Before any work: throws Error(usage) where figures are wanted and cannot be had.
void require_figures(const std::string& command, const std::string& format, const std::string& output);
// When the page stands. Nothing where no format is given.
void save_figures(const std::string& format, const std::string& output);

}  // namespace tamis::app
