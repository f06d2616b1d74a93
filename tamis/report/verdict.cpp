#include "tamis/report/verdict.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/run/stability/repeats.h"
#include "tamis/select/guided/guided.h"

namespace tamis {

namespace {

constexpr double kCarriesWeight = 0.01;  // of the largest score
constexpr double kBeatsRandom = 0.05;    // p

std::string columns_text(std::size_t count, bool grouped = false) {
  return grouped ? counted(static_cast<Index>(count), "group") + " of columns"
                 : counted(static_cast<Index>(count), "column");
}

// "a", "a and b", "a, b and c"
std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  }
  return out;
}

std::string percent_of(double share) { return fixed_number(100.0 * share, 1) + " %"; }

// --- A selection ------------------------------------------------------------------------------------------------

// How many columns separate the groups, and by which test.
std::string passed_text(const Guidance& guidance, bool grouped) {
  const auto passed = static_cast<std::size_t>(guidance.passed);
  const std::string head = columns_text(passed, grouped) + (passed == 1 ? " separates" : " separate");
  if (guidance.evidence.empty()) {
    return concat(head, " groups of rows by more than ", kGate, " standard deviations above chance");
  }
  return concat(head, " groups of rows found in other columns, at a false discovery rate of ", 100 * kDiscoveryRate,
                " %");
}

bool is_grouped(const SelectResult& result) { return result.choices < static_cast<Index>(result.available.size()); }

// Groups where there are any, else columns.
std::size_t chosen_count(const SelectResult& result) {
  return is_grouped(result) ? result.groups.size() : result.selected.size();
}

std::string kept_whole_text(std::size_t count, bool grouped) {
  return count == 1 ? concat("The only ", grouped ? "group of columns" : "column", " that varies is kept")
                    : concat("All ", columns_text(count, grouped), " that vary are kept");
}

void add_no_structure(std::size_t chosen, bool grouped, const Guidance& guidance, std::vector<std::string>& out) {
  out.emplace_back(
      guidance.suggested == 1 && !grouped
          ? "No structure found: one column alone cannot be tested, as the groups of rows come from others."
          : "No structure found: no column separates groups of rows found in other columns.");
  out.push_back(guidance.suggested == static_cast<Index>(chosen) ? kept_whole_text(chosen, grouped) + "."
                : chosen == 1
                    ? concat("The one ", grouped ? "group" : "column", " was requested; noise would look the same.")
                    : concat("The ", columns_text(chosen, grouped), " were requested; noise would look the same."));
}

void add_guidance(const SelectResult& result, std::vector<std::string>& out) {
  const Guidance& guidance = *result.selection.guidance;
  const bool grouped = is_grouped(result);
  const std::size_t chosen = chosen_count(result);
  const auto all = static_cast<std::size_t>(result.choices);
  const bool suggested = guidance.suggested == static_cast<Index>(chosen);
  if (guidance.outcome == Outcome::no_structure) {
    add_no_structure(chosen, grouped, guidance, out);
    return;
  }
  if (guidance.outcome == Outcome::narrow && suggested) {
    out.push_back(concat(kept_whole_text(chosen, grouped), ": selecting among up to ", kNarrow, " ",
                         grouped ? "groups" : "columns", " does no better than keeping them all."));
    out.push_back(concat("Of these, ", passed_text(guidance, grouped), "."));
    return;
  }
  out.push_back(concat(chosen, " of ", columns_text(all, grouped), " selected; ", passed_text(guidance, grouped), "."));
  if (suggested) return;
  const auto better = static_cast<std::size_t>(guidance.suggested);
  out.push_back(
      guidance.outcome == Outcome::narrow
          ? concat("Selecting among up to ", kNarrow, " ", grouped ? "groups" : "columns",
                   " does no better than keeping all ", better, " that vary.")
          : concat("The alignment with the groups of rows suggests selecting ", columns_text(better, grouped), "."));
}

void add_agreement(const SelectResult& result, std::vector<std::string>& out) {
  if (const auto& agreement = result.agreement) {
    out.push_back(concat("k-means on the selected columns agrees with these groups to ",
                         short_number(agreement->selected, 2), ", on all columns to ", short_number(agreement->all, 2),
                         " (normalized mutual information); the groups you care about may be different."));
  }
  const Guidance& guidance = *result.selection.guidance;
  const bool kept_whole =
      guidance.suggested == static_cast<Index>(chosen_count(result)) && guidance.outcome != Outcome::columns_found;
  if (guidance.outcome == Outcome::no_structure || kept_whole) return;
  out.push_back(
      "Other selections may be as good: the order avoids redundancy; the share says how well a column separates the "
      "groups.");
}

// Of a method that weighs all columns at once, how many count.
void add_weights(const SelectResult& result, std::vector<std::string>& out) {
  const std::string chosen =
      concat(chosen_count(result), " of ", columns_text(static_cast<std::size_t>(result.choices), is_grouped(result)),
             " selected");
  if (result.selection.components.empty()) {
    out.push_back(chosen + ".");
    return;
  }
  double most = 0.0;
  for (const Index j : result.ranking) most = std::max(most, result.scores[j]);
  const auto carries = [&](Index j) { return result.scores[j] > kCarriesWeight * most; };
  const auto weighty = static_cast<std::size_t>(std::ranges::count_if(result.ranking, carries));
  out.push_back(concat(chosen, "; ", columns_text(weighty), weighty == 1 ? " carries" : " carry",
                       " weight (a score above 1 % of the largest)."));
  const auto idle = result.selected.size() - static_cast<std::size_t>(std::ranges::count_if(result.selected, carries));
  if (idle == 0) return;
  out.push_back(concat(idle, " of the selected columns ", idle == 1 ? "carries" : "carry",
                       " less; where the scores are that small, the order means little."));
}

void add_clusters(const std::vector<int>& clusters, const std::string& rows, const char* origin,
                  std::vector<std::string>& out) {
  std::vector<Index> sizes;
  for (const int cluster : clusters) {
    if (cluster >= static_cast<int>(sizes.size())) sizes.resize(cluster + 1, 0);
    if (cluster >= 0) ++sizes[cluster];
  }
  std::erase(sizes, 0);
  if (sizes.size() < 2) return;
  const auto [least, most] = std::ranges::minmax(sizes);
  out.push_back(concat("The ", rows, " form ", sizes.size(), " groups of ",
                       least == most ? counted(least, "row") : concat(least, " to ", most, " rows"), origin, "."));
}

// Selected columns that repeat a selected one ranked before them, and columns left out that repeat a selected one.
void add_repetition(const SelectResult& result, std::vector<std::string>& out) {
  if (!result.redundancy || result.selected.empty()) return;
  const Redundancy& found = *result.redundancy;
  std::vector<char> chosen(result.scores.size(), 0);
  for (const Index j : result.selected) chosen[j] = 1;
  std::size_t repeated = 0, represented = 0;
  for (const auto& group : found.groups) {
    const auto selected =
        static_cast<std::size_t>(std::ranges::count_if(group, [&](Index j) { return chosen[j] != 0; }));
    if (selected > 1) repeated += selected - 1;
    if (selected > 0) represented += group.size() - selected;
  }
  const std::string bound = concat("(|r| at least ", short_number(found.threshold), ")");
  if (repeated > 0) {
    out.push_back(
        concat(repeated, " of the selected columns repeat", repeated == 1 ? "s" : "", " another one ", bound, "."));
  } else if (result.selected.size() > 1 && (found.note.empty() || !found.groups.empty())) {
    out.push_back(concat("No selected column repeats another one ", bound, "."));
  }
  if (represented > 0) {
    out.push_back(concat(columns_text(represented), " left out repeat", represented == 1 ? "s" : "", " a selected one ",
                         bound, "."));
  }
}

// --- A comparison -----------------------------------------------------------------------------------------------

// Methods by where they stand against one of them, by the paired difference.
struct Standing {
  std::vector<std::string> worse, alike, unknown;
};

void stand(const SubsetScore& best, const SubsetScore& other, const std::string& name, Standing& out) {
  const auto difference = paired_difference(best, other, &StartScore::accuracy);
  (!difference ? out.unknown : difference->is_clear() ? out.worse : out.alike).push_back(name);
}

// Names, or how many where they are the larger part of many.
std::string named(const std::vector<std::string>& some, std::size_t of) {
  constexpr std::size_t kFew = 4;
  if (some.size() == of && of > 1) return concat("all ", of, " other methods");
  return some.size() > kFew && 2 * some.size() > of ? concat(some.size(), " of the ", of, " other methods")
                                                    : joined(some);
}

// Where the others stand at one size.
std::string ranks_text(const ComparedMethod& best, const Comparison& comparison, std::size_t s) {
  Standing found;
  std::size_t others = 0;
  for (const auto& other : comparison.methods) {
    if (other.failure || &other == &best) continue;
    ++others;
    stand(best.sizes[s].score, other.sizes[s].score, other.name, found);
  }
  std::string out;
  if (!found.worse.empty()) out += concat(" It is better than ", named(found.worse, others), ".");
  if (!found.alike.empty()) out += concat(" Its difference from ", named(found.alike, others), " is not clear.");
  if (!found.unknown.empty()) out += " One start says nothing about the differences: use --repeats.";
  return out;
}

// A selection that does no better than the whole table has gained nothing but fewer columns.
std::string all_text(const ComparedMethod& best, const Comparison& comparison, std::size_t s) {
  if (!comparison.all) return {};
  const SubsetScore& all = *comparison.all;
  const std::string value = percent_of(all.accuracy.mean);
  const auto difference = paired_difference(best.sizes[s].score, all, &StartScore::accuracy);
  if (!difference) return concat(" All features have ", value, ".");
  if (!difference->is_clear()) return concat(" Its difference from all features (", value, ") is not clear.");
  return concat(" It is ", difference->mean > 0.0 ? "better" : "worse", " than all features (", value, ").");
}

std::string random_text(const Comparison& comparison, std::size_t s) {
  std::vector<std::string> winners, losers;
  for (const auto& one : comparison.methods) {
    if (!one.failure) (one.sizes[s].accuracy_p > kBeatsRandom ? losers : winners).push_back(one.name);
  }
  if (losers.empty())
    return winners.size() == 1 ? " It beats random features." : " Every method beats random features.";
  if (winners.empty()) return " No method beats random features (p above 0.05).";
  if (winners.size() < losers.size())
    return concat(" Only ", joined(winners), " beat", winners.size() == 1 ? "s" : "",
                  " random features (p at most 0.05).");
  return concat(" Random features are not beaten by ", joined(losers), " (p above 0.05).");
}

void add_sizes(const CompareRequest& request, const Comparison& comparison, std::vector<std::string>& out) {
  for (std::size_t s = 0; s < request.sizes.size(); ++s) {
    const ComparedMethod& best = *best_method(comparison, s);
    out.push_back(concat("With ", counted(request.sizes[s], "feature"), " the best is ", best.name, ", ACC ",
                         percent_of(best.sizes[s].score.accuracy.mean), ".", all_text(best, comparison, s),
                         ranks_text(best, comparison, s), random_text(comparison, s)));
  }
  if (request.repeats < 2) return;
  out.push_back(concat("A difference counts where its 95 % interval excludes 0, paired over ", request.repeats,
                       " k-means starts with the same seeds; it says nothing about other rows."));
}

// Without classes: which selection repeats itself least.
void add_least_redundant(const CompareRequest& request, const Comparison& comparison, std::vector<std::string>& out) {
  const std::size_t last = request.sizes.size() - 1;
  const ComparedMethod* least = nullptr;
  for (const auto& one : comparison.methods) {
    if (one.failure || !one.sizes[last].score.redundancy) continue;
    if (least == nullptr || *one.sizes[last].score.redundancy < *least->sizes[last].score.redundancy) least = &one;
  }
  out.emplace_back(
      "Without labels there is no telling which selection is better; the page shows what the methods agree on, how "
      "redundant their features are, and what they cost.");
  if (least == nullptr) return;
  out.push_back(concat("With ", counted(request.sizes[last], "feature"), " ", least->name,
                       " selects the least redundant ones", " (mean absolute correlation ",
                       short_number(*least->sizes[last].score.redundancy, 2), ")."));
}

// Of the other one from this one.
Difference reversed(const Difference& difference) { return {-difference.mean, -difference.high, -difference.low}; }

}  // namespace

std::string status_text(const Report& report) {
  if (report.status == Status::direct) return "direct, without iterations";
  const std::string rounds = counted(report.iterations, "iteration");
  return report.status == Status::converged ? "converged after " + rounds : "stopped at the limit of " + rounds;
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + '.';
}

std::vector<std::string> verdict(const SelectResult& result) {
  std::vector<std::string> out;
  const auto& guidance = result.selection.guidance;
  guidance ? add_guidance(result, out) : add_weights(result, out);
  const auto& clusters = result.selection.clusters;
  const bool structure = !guidance || guidance->outcome != Outcome::no_structure;
  if (structure && !clusters.empty())
    add_clusters(clusters, "rows", result.supervised ? ", as the labels say" : "", out);
  if (structure && clusters.empty() && guidance) add_clusters(guidance->groups, "sampled rows", "", out);
  add_repetition(result, out);
  if (result.stability) out.push_back(sentence(stability_text(result)));
  if (guidance) add_agreement(result, out);
  return out;
}

const ComparedMethod* best_method(const Comparison& comparison, std::size_t size) {
  const ComparedMethod* best = nullptr;
  for (const auto& one : comparison.methods) {
    if (one.failure) continue;
    const double mean = one.sizes[size].score.accuracy.mean;
    if (best == nullptr || mean > best->sizes[size].score.accuracy.mean) best = &one;
  }
  return best;
}

std::vector<std::string> verdict(const CompareRequest& request, const Comparison& comparison) {
  if (best_method(comparison, 0) == nullptr) return {"No method finished."};
  std::vector<std::string> out;
  if (request.classes.empty()) {
    add_least_redundant(request, comparison, out);
  } else {
    add_sizes(request, comparison, out);
  }
  return out;
}

std::vector<std::string> verdict(const Evaluation& evaluation) {
  const SubsetScore& given = evaluation.given;
  const double p = evaluation.random.accuracy_p;
  std::vector<std::string> out = {concat("The list ", p > kBeatsRandom ? "does not beat" : "beats",
                                         " random lists of the same size (p = ", short_number(p, 2), ").")};
  const auto against = [&](const SubsetScore& other, const std::string& what) {
    const auto difference = paired_difference(given, other, &StartScore::accuracy);
    if (!difference) return;
    if (difference->low == 0.0 && difference->high == 0.0) {
      out.push_back(concat("It scores the same as ", what, "."));
      return;
    }
    const bool worse = difference->is_clear() && difference->mean < 0;
    const char* word = worse ? "worse than" : difference->is_clear() ? "better than" : "not clearly different from";
    out.push_back(concat("It is ", word, " ", what, difference->is_clear() ? ": by " : ": ",
                         points_text(worse ? reversed(*difference) : *difference), "."));
  };
  if (evaluation.all) against(*evaluation.all, "all features");
  against(evaluation.max_variance, given.features == 1
                                       ? std::string("the feature with the largest variance")
                                       : concat("the ", given.features, " features with the largest variance"));
  return out;
}

std::string points_text(const Difference& difference) {
  const auto points = [](double share) { return fixed_number(100.0 * share, 1); };
  return concat(points(difference.mean), " points of ACC (95 %: ", points(difference.low), " to ",
                points(difference.high), ")");
}

}  // namespace tamis
