#include "tamis/report/select_page.h"

#include "tamis/base/text/spelling.h"
#include "tamis/report/select_view.h"
#include "tamis/report/verdict.h"

namespace tamis {

page::Page select_page(const SelectionRecord& record, const SelectPageOptions& options, Context& context) {
  const SelectView view(record, options, context);
  const SelectResult& result = record.result;
  const Selection& selection = result.selection;
  const std::size_t excluded = static_cast<std::size_t>(record.table.source.cols()) - result.available.size();
  page::Page page;
  page.title = concat("Selected features of ", page::file_text(record.table.path));
  page.summary = concat(
      record.method.name, " selected ", result.selected.size(), " of ",
      counted(std::ssize(result.available), "feature"), excluded == 0 ? "" : concat(" (", excluded, " more excluded)"),
      record.request.classes.empty() ? ", without labels," : "", " from ", counted(record.table.source.rows(), "row"),
      record.request.classes.empty() ? "." : ", using labels.");
  page.verdict = verdict(result);
  page.origin = options.origin;
  if (selection.guidance) page.sections.push_back(guide_section(view));
  if (!view.is_order()) page.sections.push_back(scores_section(view));
  page.sections.push_back(ranking_section(view));
  if (view.profile) page.sections.push_back(clusters_section(view));
  if (options.image) page.sections.push_back(image_section(view));
  if (view.top.size() > 1 || result.redundancy) page.sections.push_back(redundancy_section(view));
  if (!selection.report.objective.empty()) page.sections.push_back(objective_section(view));
  page.sections.push_back(left_out_section(view));
  page.sections.push_back(run_section(view));
  return page;
}

}  // namespace tamis
