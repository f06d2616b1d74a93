#include "tamis/select/selection.h"

#include <gtest/gtest.h>

#include <set>

#include "tamis/select/registry.h"
#include "tests/support/checks.h"

namespace tamis {
namespace {

using Ranking = std::vector<Index>;

TEST(RankByScore, FallingScores) {
  EXPECT_EQ(rank_by_score({0.1, 0.5, 0.3}), (Ranking{1, 2, 0}));
  EXPECT_EQ(rank_by_score({}), Ranking{});
  EXPECT_EQ(rank_by_score({-2, -1, -3}), (Ranking{1, 0, 2}));
}

TEST(RankByScore, TiesGoToTheLowerIndex) {
  EXPECT_EQ(rank_by_score({1, 1, 1}), (Ranking{0, 1, 2}));
  EXPECT_EQ(rank_by_score({0, 0}), (Ranking{0, 1}));
  // 1e-9 of the largest score is the width of a tie.
  EXPECT_EQ(rank_by_score({10, 10 + 9e-9, 5}), (Ranking{0, 1, 2}));
  EXPECT_EQ(rank_by_score({10, 10 + 2e-8, 5}), (Ranking{1, 0, 2}));
  EXPECT_EQ(rank_by_score({5, 5 + 9e-9, 10}), (Ranking{2, 0, 1}));
  EXPECT_EQ(rank_by_score({1e-12, 2e-12, 1}), (Ranking{2, 0, 1}));
  EXPECT_EQ(rank_by_score({1e-12, 2e-12}), (Ranking{1, 0}));
  // The size of negative scores counts too.
  EXPECT_EQ(rank_by_score({-1e3, 0, 5e-7}), (Ranking{1, 2, 0}));
}

TEST(RankByScore, IsAPermutation) {
  std::vector<double> scores;
  for (int i = 0; i < 200; ++i) scores.push_back((i * 37 % 50) * 1e-3);
  Ranking ranking = rank_by_score(scores);
  for (std::size_t k = 1; k < ranking.size(); ++k) {
    const double before = scores[static_cast<std::size_t>(ranking[k - 1])],
                 now = scores[static_cast<std::size_t>(ranking[k])];
    EXPECT_TRUE(before > now || (before == now && ranking[k - 1] < ranking[k]));
  }
  std::sort(ranking.begin(), ranking.end());
  for (std::size_t k = 0; k < ranking.size(); ++k) EXPECT_EQ(ranking[k], static_cast<Index>(k));
}

TEST(Registry, EveryMethodIsDescribed) {
  std::set<std::string> names, python;
  for (const Method& method : methods()) {
    EXPECT_TRUE(names.insert(method.name).second) << method.name;
    EXPECT_TRUE(python.insert(method.python_name).second) << method.name;
    for (const std::string& text : {method.summary, method.formula, method.reference}) {
      EXPECT_FALSE(text.empty()) << method.name;
      EXPECT_EQ(text.find('\n'), std::string::npos) << method.name;
    }
    const auto bound = method.bind();
    std::set<std::string> options;
    for (const Option& option : bound->options()) {
      EXPECT_TRUE(options.insert(option.name).second) << method.name << " " << option.name;
      EXPECT_FALSE(option.help.empty()) << method.name << " " << option.name;
      EXPECT_FALSE(option.in_python().empty()) << method.name << " " << option.name;
      EXPECT_FALSE(value_text(option).empty()) << method.name << " " << option.name;
    }
    EXPECT_NO_THROW(validate(bound->options(), method.name)) << "the defaults are in range";
  }
  EXPECT_EQ(names.count("ufcm"), 1u);
}

TEST(Registry, FindsByNameOrSaysWhatThereIs) {
  for (const Method& method : methods()) EXPECT_EQ(&find_method(method.name), &method);
  for (const char* unknown : {"", "UFCM", "ufc", "pca"}) {
    support::expect_error(ErrorCode::usage, {std::string("method = ") + unknown, "ufcm"},
                          [&] { find_method(unknown); });
  }
}

TEST(Registry, BoundMethodsDoNotShareOptions) {
  const auto a = find_method("ufcm").bind(), b = find_method("ufcm").bind();
  for (const Option& option : a->options()) {
    if (option.name == "clusters") set_from_text(option, "ufcm", "3");
  }
  for (const Option& option : a->options()) {
    EXPECT_TRUE(option.name != "clusters" || value_text(option) == "3");
  }
  for (const Option& option : b->options()) {
    EXPECT_TRUE(option.name != "clusters" || value_text(option) == "8");
  }
}

TEST(Registry, UfcmDefaultsAreTheDocumentedOnes) {
  const std::vector<std::pair<std::string, std::string>> wanted = {
      {"clusters", "8"},  {"alpha", "1"},       {"sparsity", "0.3"},   {"p", "1"},
      {"restarts", "10"}, {"iterations", "50"}, {"tolerance", "1e-06"}};
  const auto bound = find_method("ufcm").bind();
  for (const auto& [name, value] : wanted) {
    bool found = false;
    for (const Option& option : bound->options()) {
      if (option.name != name) continue;
      found = true;
      EXPECT_EQ(value_text(option), value) << name;
    }
    EXPECT_TRUE(found) << name;
  }
}

}  // namespace
}  // namespace tamis
