#include "tamis/paper/experiments.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tamis/paper/cells.h"

namespace tamis {
namespace {

TEST(Experiments, TheSixSetsOfTable1) {
  std::vector<std::string> names;
  for (const auto& set : expected_sets()) {
    names.push_back(set.name);
    EXPECT_EQ(set.image_rows * set.image_columns, set.features) << set.name;
    for (const auto& hash : {set.sha256_x, set.sha256_y, set.sha256_file}) EXPECT_EQ(hash.size(), 64u) << set.name;
    EXPECT_EQ(set.paper_rows == set.rows, set.name != "umist");
  }
  EXPECT_EQ(names, (std::vector<std::string>{"coil20", "mnist_s", "orl", "umist", "usps", "yaleb"}));
  EXPECT_EQ(find_expected_set("umist")->paper_rows, 564);
  EXPECT_EQ(find_expected_set("umist")->rows, 575);
  EXPECT_EQ(find_expected_set("mnist"), nullptr);
}

TEST(Experiments, GridsOfTheProtocol) {
  const Protocol protocol = full_protocol();
  EXPECT_EQ(grid_settings(protocol, "ufcm").size(), 48u);
  EXPECT_EQ(grid_settings(protocol, "ndfs").size(), 16u);
  EXPECT_EQ(grid_settings(protocol, "rufs").size(), 16u);
  EXPECT_EQ(grid_settings(protocol, "spec").size(), 3u);
  for (const char* method : {"lapscore", "mcfs", "maxvar"}) {
    EXPECT_EQ(grid_settings(protocol, method), std::vector<Settings>{{}}) << method;
  }
  EXPECT_EQ(figure_settings(protocol, "ufcm").size(), 8u);
  EXPECT_TRUE(figure_settings(protocol, "ndfs").empty());
  EXPECT_EQ(protocol.repeats, 5);
  EXPECT_EQ(protocol.subsets, 20);
  EXPECT_EQ(protocol.neighbors, 5);
  EXPECT_EQ(protocol.most_rows, 0);
}

TEST(Experiments, SizesAreSharesOfTheFeatures) {
  EXPECT_EQ(sizes_of(full_protocol(), 1024), (std::vector<Index>{51, 102, 205, 307, 512, 717, 922}));
  EXPECT_EQ(sizes_of(full_protocol(), 256), (std::vector<Index>{13, 26, 51, 77, 128, 179, 230}));
  EXPECT_EQ(sizes_of(full_protocol(), 1), (std::vector<Index>{1}));
  EXPECT_EQ(chosen_size(full_protocol(), 1024), 512);
}

// What figures and tables look for must be among what is run, in both protocols.
TEST(Experiments, FiguresFindTheirRuns) {
  for (const Protocol& protocol : {full_protocol(), quick_protocol()}) {
    const auto has = [](const std::vector<std::string>& values, const std::string& one) {
      return std::find(values.begin(), values.end(), one) != values.end();
    };
    EXPECT_TRUE(has(protocol.figure2, "0") && has(protocol.figure2, "1"));
    for (const auto& axis : protocol.axes) {
      if (axis.method != "ufcm") continue;
      EXPECT_TRUE(axis.option != "beta" || has(axis.values, kFigure3Beta));
      EXPECT_TRUE(axis.option != "alpha" || has(axis.values, kFigure4Alpha));
    }
    EXPECT_NE(std::find(protocol.shares.begin(), protocol.shares.end(), protocol.chosen_share), protocol.shares.end());
    for (const auto& method : paper_methods()) {
      for (const auto& settings : grid_settings(protocol, method.name)) {
        EXPECT_NO_THROW(validate(bound_with(method, 8, settings)->options(), method.name));
      }
      for (const auto& settings : figure_settings(protocol, method.name)) {
        EXPECT_NO_THROW(validate(bound_with(method, 8, settings)->options(), method.name));
      }
    }
  }
}

TEST(Experiments, NotTunedIsAsThePaperSays) {
  const auto of = [](const char* method) { return bound_with(find_method(method), 8, {}); };
  const auto ndfs = of("ndfs"), rufs = of("rufs"), ufcm = of("ufcm");
  EXPECT_EQ(value_text(*find_option(ndfs->options(), "gamma")), "1e+08");
  EXPECT_EQ(value_text(*find_option(rufs->options(), "nu")), "1");
  EXPECT_EQ(value_text(*find_option(ufcm->options(), "restarts")), "10");
}

TEST(Experiments, WhatThePaperPrinted) {
  const auto value = [](Measure measure, const char* set, const char* method) {
    return paper_value(measure, set, method).value().mean;
  };
  EXPECT_EQ(value(Measure::accuracy, "coil20", "ufcm"), 0.7475);
  EXPECT_EQ(value(Measure::accuracy, "yaleb", "rufs"), 0.1795);
  EXPECT_EQ(value(Measure::accuracy, "umist", "allfea"), 0.4800);
  EXPECT_EQ(value(Measure::nmi, "usps", "spec"), 0.6215);
  EXPECT_EQ(value(Measure::nmi, "orl", "lapscore"), 0.8421);
  EXPECT_EQ(value(Measure::nmi, "yaleb", "ufcm"), 0.2959);
  EXPECT_EQ(paper_value(Measure::accuracy, "usps", "lapscore")->sd, 0.0324);
  EXPECT_FALSE(paper_value(Measure::accuracy, "mine", "ufcm"));
  EXPECT_FALSE(paper_value(Measure::accuracy, "orl", "random"));
  for (const auto& set : expected_sets()) {  // the paper's own claim: its method is the best everywhere
    for (const auto& method : paper_methods()) {
      for (const Measure measure : {Measure::accuracy, Measure::nmi}) {
        EXPECT_LE(paper_value(measure, set.name, method.name)->mean, paper_value(measure, set.name, "ufcm")->mean);
      }
    }
  }
}

TEST(Experiments, NamesAreNoPaths) {
  EXPECT_EQ(path_of_set("a", "b"), "a/b.npz");
  EXPECT_EQ(path_of_set("a/", "b c"), "a/b c.npz");
  for (const std::string name : {"", ".", "..", "../b", "/etc/x", "a/b", ".hidden"}) {
    EXPECT_THROW(path_of_set("a", name), Error) << name;
  }
  EXPECT_THROW(path_of_set("a", std::string("b\0c", 3)), Error);
}

}  // namespace
}  // namespace tamis
