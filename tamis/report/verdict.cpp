#include "tamis/report/verdict.h"

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"

namespace tamis {

namespace {

std::string columns_text(std::size_t count, bool grouped) {
  const char* what =
      grouped ? (count == 1 ? " group of columns" : " groups of columns") : (count == 1 ? " column" : " columns");
  return concat(count, what);
}

// How many columns separate the groups, and by which test.
std::string passed_text(const Guidance& guidance, bool grouped) {
  const auto passed = static_cast<std::size_t>(guidance.passed);
  const std::string head = columns_text(passed, grouped) + (passed == 1 ? " separates" : " separate");
  if (guidance.evidence.empty()) {
    return concat(head, " groups of rows by more than 4 standard deviations above chance");
  }
  return concat(head, " groups of rows found in other columns, at a false discovery rate of 1 %");
}

}  // namespace

std::vector<std::string> verdict(const SelectResult& result) {
  if (!result.selection.guidance) return {};
  const Guidance& guidance = *result.selection.guidance;
  const bool grouped = result.choices < static_cast<Index>(result.available.size());
  const std::size_t chosen = grouped ? result.groups.size() : result.selected.size();
  const auto all = static_cast<std::size_t>(result.choices);
  const bool suggested = guidance.suggested == static_cast<Index>(chosen);
  std::vector<std::string> out;
  if (guidance.outcome == Outcome::no_structure) {
    out.push_back(concat("No structure found: no column separates groups of rows found in other columns."));
    out.push_back(suggested
                      ? concat("All ", columns_text(chosen, grouped), " that vary are kept.")
                      : concat("The ", columns_text(chosen, grouped), " were requested; noise would look the same."));
    return out;
  }
  if (guidance.outcome == Outcome::narrow && suggested) {
    out.push_back(concat("All ", columns_text(chosen, grouped),
                         " that vary are kept: in tables of up to 50 columns no selection ",
                         "beats keeping them all."));
    out.push_back(concat("Of these, ", passed_text(guidance, grouped), "."));
    return out;
  }
  out.push_back(concat(chosen, " of ", columns_text(all, grouped), " selected; ", passed_text(guidance, grouped), "."));
  if (!suggested)
    out.push_back(concat("The alignment with the groups suggests selecting ",
                         columns_text(static_cast<std::size_t>(guidance.suggested), grouped), "."));
  if (const auto& agreement = result.agreement) {
    out.push_back(concat("k-means on the selected columns agrees with these groups to ",
                         short_number(agreement->selected, 2), ", on all columns to ", short_number(agreement->all, 2),
                         " (normalized mutual information); the groups you care about may be different."));
  }
  out.push_back(
      "Other selections may be as good: the order avoids redundancy; the share says how well a column separates the "
      "groups.");
  return out;
}

}  // namespace tamis
