#include "tamis/report/verdict.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace tamis {
namespace {

using Sentences = std::vector<std::string>;

SelectResult weighted() {
  SelectResult result;
  result.available = {0, 1, 2, 3};
  result.choices = 4;
  result.scores = {0.5, 1.0, 0.001, 0.4};
  result.ranking = {1, 0, 3, 2};
  result.selected = {1, 0};
  result.selection.components = Matrix(4, 1);
  return result;
}

ComparedMethod compared(const std::string& name, const std::vector<double>& accuracies, double p) {
  ComparedMethod out;
  out.name = name;
  ComparedSize size;
  for (const double value : accuracies) size.score.starts.push_back({value});
  summarize_starts(size.score);
  size.accuracy_p = p;
  out.sizes = {size};
  return out;
}

TEST(Verdict, SaysWhatCarriesWeightAndWhatItSeparates) {
  SelectResult result = weighted();
  EXPECT_EQ(verdict(result), (Sentences{"2 of 4 columns selected; 3 columns carry weight (a score above 1 % of the "
                                        "largest)."}));
  result.selection.clusters = {0, 2, 2, -1};
  EXPECT_EQ(verdict(result)[1], "The rows form 2 groups of 1 to 2 rows.");
  result.supervised = true;
  EXPECT_EQ(verdict(result)[1], "The rows form 2 groups of 1 to 2 rows, as the labels say.");
  result.supervised = false;
  result.selection.clusters = {0, 0};
  EXPECT_EQ(verdict(result).size(), 1u);  // one group separates nothing
  result.selection.components = {};
  EXPECT_EQ(verdict(result), Sentences{"2 of 4 columns selected."});
}

TEST(Verdict, CountsSelectedColumnsWithoutWeight) {
  SelectResult result = weighted();
  result.selected = {1, 0, 3, 2};
  EXPECT_EQ(verdict(result)[1],
            "1 of the selected columns carries less; where the scores are that small, the order means little.");
}

// Whatever number of columns is kept, noise is called noise.
TEST(Verdict, SaysThatThereIsNoStructure) {
  SelectResult result = weighted();
  result.selection.components = {};
  Guidance& guidance = result.selection.guidance.emplace();
  guidance.outcome = Outcome::no_structure, guidance.suggested = 4;
  guidance.evidence = {1, 1, 1, 1}, guidance.groups = {0, 0, 1, 1};
  const std::string none = "No structure found: no column separates groups of rows found in other columns.";
  EXPECT_EQ(verdict(result), (Sentences{none, "The 2 columns were requested; noise would look the same."}));
  result.selected = {1, 0, 3, 2};
  EXPECT_EQ(verdict(result), (Sentences{none, "All 4 columns that vary are kept."}));
  result.available = result.selected = result.ranking = {0}, result.choices = 1, guidance.suggested = 1;
  EXPECT_EQ(verdict(result)[1], "The only column that varies is kept.");
}

// Up to 50 groups of columns are best kept whole: no number of them is suggested by an alignment.
TEST(Verdict, FewGroupsAreBestKeptWhole) {
  SelectResult result = weighted();
  result.choices = 3, result.groups = {1, 0};
  result.selection.components = {};
  Guidance& guidance = result.selection.guidance.emplace();
  guidance.outcome = Outcome::narrow, guidance.suggested = 3, guidance.passed = 2, guidance.evidence = {0, 0, 1, 1};
  const Sentences words = verdict(result);
  EXPECT_TRUE(words[0].starts_with("2 of 3 groups of columns selected; 2 groups of columns separate ")) << words[0];
  EXPECT_EQ(words[1], "Selecting among up to 50 groups does no better than keeping all 3 that vary.");
  result.groups = {1, 0, 2};
  EXPECT_TRUE(verdict(result)[0].starts_with("All 3 groups of columns that vary are kept: ")) << verdict(result)[0];
}

TEST(Verdict, StatusesAreWords) {
  Report report;
  EXPECT_EQ(status_text(report), "direct, without iterations");
  report.status = Status::converged, report.iterations = 1;
  EXPECT_EQ(status_text(report), "converged after 1 iteration");
  report.status = Status::max_iterations, report.iterations = 20;
  EXPECT_EQ(status_text(report), "stopped at the limit of 20 iterations");
}

// A difference that is not clear is not one "by" so many points.
TEST(Verdict, AnUnclearDifferenceIsNoGain) {
  Evaluation evaluation;
  evaluation.given = compared("", {0.1, 0.9, 0.5}, 0).sizes[0].score;
  evaluation.all = compared("", {0.5, 0.4, 0.52}, 0).sizes[0].score;
  evaluation.max_variance = evaluation.given;
  EXPECT_TRUE(verdict(evaluation)[1].starts_with("It is not clearly different from all features: 2.7 points of ACC ("))
      << verdict(evaluation)[1];
}

TEST(Verdict, CountsWhatRepeats) {
  SelectResult result = weighted();
  result.redundancy.emplace();
  EXPECT_EQ(verdict(result).back(), "No selected column repeats another one (|r| at least 0.8).");
  result.redundancy->groups = {{1, 0, 3}, {2, 3}};
  const Sentences words = verdict(result);
  EXPECT_EQ(words[1], "1 of the selected columns repeats another one (|r| at least 0.8).");
  EXPECT_EQ(words[2], "1 column left out repeats a selected one (|r| at least 0.8).");
}

TEST(Verdict, SaysWhichDifferencesAreReal) {
  CompareRequest request;
  request.sizes = {7};
  request.classes = {0, 1};
  request.repeats = 3;
  Comparison comparison;
  comparison.methods.push_back(compared("low", {0.2, 0.3, 0.2}, 0.5));
  comparison.methods.push_back(compared("high", {0.8, 0.9, 0.8}, 0.04));
  comparison.methods.push_back(compared("near", {0.1, 1.0, 0.8}, 0.04));
  comparison.methods.push_back(compared("broken", {0.9, 0.9, 0.9}, 0.04));
  comparison.methods.back().failure = Failure{ErrorCode::resources, "no"};
  EXPECT_EQ(best_method(comparison, 0)->name, "high");
  EXPECT_EQ(verdict(request, comparison)[0],
            "With 7 features the best is high, ACC 83.3 %. It is better than low. Its difference from near is not "
            "clear. Random features are not beaten by low (p above 0.05).");
  comparison.all = compared("", {0.9, 0.95, 0.9}, 0).sizes[0].score;
  EXPECT_TRUE(verdict(request, comparison)[0].starts_with(
      "With 7 features the best is high, ACC 83.3 %. It is worse than all features (91.7 %). It is better than low."))
      << verdict(request, comparison)[0];
  comparison.all = comparison.methods[1].sizes[0].score;
  EXPECT_NE(verdict(request, comparison)[0].find(" Its difference from all features (83.3 %) is not clear."),
            std::string::npos);
  for (auto& one : comparison.methods) one.failure = Failure{ErrorCode::resources, "no"};
  EXPECT_EQ(verdict(request, comparison), Sentences{"No method finished."});
}

// A dozen names in a sentence say less than their number.
TEST(Verdict, CountsManyMethodsInsteadOfNamingThem) {
  CompareRequest request;
  request.sizes = {7};
  request.classes = {0, 1};
  Comparison comparison;
  comparison.methods.push_back(compared("best", {0.8, 0.9, 0.8}, 0.04));
  for (const char* name : {"a", "b", "c", "d", "e"}) comparison.methods.push_back(compared(name, {0.2, 0.3, 0.2}, 0.5));
  EXPECT_TRUE(verdict(request, comparison)[0].ends_with(
      "It is better than all 5 other methods. Only best beats random features (p at most 0.05)."))
      << verdict(request, comparison)[0];
  comparison.methods.push_back(compared("f", {0.1, 1.0, 0.8}, 0.5));
  EXPECT_NE(
      verdict(request, comparison)[0].find("It is better than 5 of the 6 other methods. Its difference from f is"),
      std::string::npos);
}

TEST(Verdict, AListIsJudgedAgainstItsControls) {
  Evaluation evaluation;
  evaluation.given = compared("", {0.8, 0.9, 0.8}, 0).sizes[0].score;
  evaluation.given.features = 5;
  evaluation.all = compared("", {0.2, 0.3, 0.2}, 0).sizes[0].score;
  evaluation.max_variance = evaluation.given;
  evaluation.random.accuracy_p = 0.04;
  EXPECT_EQ(verdict(evaluation),
            (Sentences{"The list beats random lists of the same size (p = 0.04).",
                       "It is better than all features: by 60.0 points of ACC (95 %: 60.0 to 60.0).",
                       "It scores the same as the 5 features with the largest variance."}));
  std::swap(evaluation.given, *evaluation.all);
  EXPECT_EQ(verdict(evaluation)[1], "It is worse than all features: by 60.0 points of ACC (95 %: 60.0 to 60.0).");
}

}  // namespace
}  // namespace tamis
