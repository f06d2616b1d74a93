#include "tamis/run/doubts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/tables.h"

namespace tamis {
namespace {

std::vector<std::string> said(const Matrix& x, bool of_units = false, const std::string& second = "c1") {
  Context context(2);
  const Source source = support::dense<double>(x, 7);
  const auto moments = column_moments(source, context);
  const auto name = [&](Index j) { return j == 1 ? second : "c" + std::to_string(j); };
  std::vector<std::string> lines;
  for (const Message& line : of_units ? doubts_of_units(source, moments, name) : doubts(source, moments, name, context))
    lines.push_back(line.text());
  return lines;
}

// Whole numbers of 0..99 in no order.
Matrix numbers(Index rows, Index cols) { return support::whole_numbers(rows, cols, 100, 3); }

TEST(Doubts, ColumnsThatRiseFromRowToRow) {
  Matrix x = numbers(40, 4);
  EXPECT_TRUE(said(x).empty());
  for (Index i = 0; i < 40; ++i) x(i, 1) = 1000.0 + 3.0 * static_cast<double>(i * i);
  ASSERT_EQ(said(x).size(), 1U);
  EXPECT_EQ(said(x)[0].rfind("column c1 rises from row to row", 0), 0U) << said(x)[0];
  x(39, 1) = x(38, 1);  // not strictly
  EXPECT_TRUE(said(x).empty());
  for (Index i = 0; i < 40; ++i) x(i, 1) = 0.5 + static_cast<double>(i * i);  // measured, not counted
  EXPECT_TRUE(said(x).empty());
}

TEST(Doubts, ColumnsThatGoOneWayAsTimesDo) {
  const auto with = [](auto value, const std::string& called = "c1") {
    Matrix x = numbers(40, 4);
    for (Index i = 0; i < 40; ++i) x(i, 1) = value(static_cast<double>(i));
    return said(x, false, called);
  };
  const auto warns = [](const std::vector<std::string>& lines) {
    return lines.size() == 1 && lines[0].find(" from row to row") != std::string::npos;
  };
  EXPECT_TRUE(warns(with([](double i) { return 12.5 * i; }))) << "even steps";
  EXPECT_TRUE(warns(with([](double i) { return 4e5 - 7.0 * i; }))) << "falls";
  EXPECT_TRUE(warns(with([](double i) { return 45413.0 + i * i / 24.0; }))) << "days of Excel";
  EXPECT_TRUE(warns(with([](double i) { return 1714550400.0 + 60.0 * std::floor(i / 2.0); }))) << "epoch with ties";
  EXPECT_TRUE(warns(with([](double i) { return std::floor(i * i / 30.0); }, "elapsed_time"))) << "by its name";
  EXPECT_TRUE(with([](double i) { return std::floor(i * i / 30.0); }).empty()) << "a meter with ties";
  EXPECT_TRUE(with([](double i) { return std::sin(i); }, "time").empty()) << "in no order";
}

TEST(Doubts, NumbersThatStandForMissingValues) {
  Matrix x = numbers(40, 4);
  x(3, 2) = x(30, 2) = -9999.0;
  ASSERT_EQ(said(x).size(), 1U);
  EXPECT_NE(said(x)[0].find("column c2: 2 values like -9999"), std::string::npos) << said(x)[0];
  for (Index i = 0; i < 40; i += 2) x(i, 2) = -9000.0;  // one end of a range that has others near it
  EXPECT_TRUE(said(x).empty());
}

TEST(Doubts, NumbersFarFromAllOthers) {
  const auto with = [](double value, Index times) {
    Matrix x = numbers(40, 4);
    for (Index i = 0; i < times; ++i) x(7 * i + 3, 2) = value;
    return said(x).size();
  };
  for (const double value : {-999.25, -888.0, 65535.0, 2147483647.0, -2147483648.0, 9.91e37, 1e20, -3.4028235e38}) {
    EXPECT_EQ(with(value, 1), 1U) << value;
  }
  Matrix fractions = numbers(24, 3);
  for (Index i = 0; i < 24; ++i) fractions(i, 1) = 0.37 * fractions(i, 1);
  fractions(5, 1) = -2147483648.0;
  EXPECT_EQ(said(fractions).size(), 1U) << "the end of the column is rounded";
  EXPECT_EQ(with(123456.0, 2), 1U) << "twice, and a thousand times farther than all others";
  EXPECT_EQ(with(123456.0, 1), 0U) << "once: an outlier";
  EXPECT_EQ(with(5000.0, 2), 0U);
  Matrix x = numbers(40, 4);
  for (Index i = 0; i < 40; ++i) x(i, 2) = i % 3 == 0 ? 1e6 : 0.0;
  EXPECT_TRUE(said(x).empty()) << "two values only";
}

TEST(Doubts, RawCountsWithoutZeros) {
  Matrix x = numbers(40, 30);
  for (Index j = 0; j < 30; ++j) {
    const double size = std::pow(10.0, 0.5 + 0.12 * static_cast<double>(j));
    for (Index i = 0; i < 40; ++i) x(i, j) = std::floor(size * (1.0 + x(i, j) / 25.0)) + 1.0;
  }
  ASSERT_EQ(said(x).size(), 1U);
  EXPECT_NE(said(x)[0].find("raw counts"), std::string::npos) << said(x)[0];
  EXPECT_TRUE(said(x, true).empty()) << "one unit";
  Matrix sizes = x;
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 30; j += 3) sizes(i, j) = 2000.0 + numbers(40, 30)(i, j) / 10.0;
  }
  for (Index i = 0; i < 40; ++i) {
    for (Index j = 0; j < 30; j += 3) sizes(i, j) = std::floor(sizes(i, j));
  }
  EXPECT_TRUE(said(sizes).empty()) << "years among them vary less than counts";
  Matrix ratings = numbers(40, 30);
  EXPECT_TRUE(said(ratings).empty()) << "of similar size";
}

TEST(Doubts, RawCounts) {
  Matrix x = support::thinned(numbers(40, 60), 0.3, 1);
  x(7, 3) = 250.0;
  ASSERT_EQ(said(x).size(), 1U);
  EXPECT_NE(said(x)[0].find("raw counts"), std::string::npos) << said(x)[0];
  for (Index j = 0; j < 60; j += 2) x(8, j) = 250.0;  // as bright as a pixel can be
  EXPECT_TRUE(said(x).empty());
  x = support::thinned(numbers(40, 60), 0.3, 1);
  x(7, 3) = 250.0, x(9, 9) = 0.5;
  EXPECT_TRUE(said(x).empty()) << "measured";
}

TEST(Doubts, UnitsThatDiffer) {
  Matrix x = numbers(40, 30);
  EXPECT_TRUE(said(x, true).empty());
  for (Index i = 0; i < 40; ++i) x(i, 5) *= 1000.0;
  std::fill_n(x.row(0), 30, 0.0);
  EXPECT_TRUE(said(x, true).empty()) << "counts from 0: one unit";
  x(0, 6) = -0.5;
  ASSERT_EQ(said(x, true).size(), 1U);
  EXPECT_NE(said(x, true)[0].find("(columns c5 and c"), std::string::npos) << said(x, true)[0];
}

ScaleAdvice advice_for(const Source& source) {
  Context context(2);
  return advise_scaling(source, column_moments(source, context), [](Index j) { return "c" + std::to_string(j); });
}

TEST(Scaling, IsAdvisedWhereUnitsDiffer) {
  Matrix x = support::random_matrix(60, 6, 1);
  EXPECT_EQ(advice_for(support::dense<double>(x)).scale, Scaling::none) << "alike";
  for (Index i = 0; i < 60; ++i) x(i, 4) *= 1000.0;
  EXPECT_EQ(advice_for(support::dense<double>(x)).scale, Scaling::standard);
  EXPECT_NE(advice_for(support::dense<double>(x)).reason.find("(columns c4 and "), std::string::npos);
  EXPECT_EQ(advice_for(support::sparse<double>(x)).scale, Scaling::none);
}

TEST(Scaling, IsNotAdvisedInOneUnit) {
  Matrix x = support::thinned(numbers(60, 30), 0.5, 2);  // whole numbers with zeros in every column
  for (Index i = 0; i < 60; ++i) x(i, 3) *= 5000.0;
  EXPECT_EQ(advice_for(support::dense<double>(x)).scale, Scaling::none) << "counts";
  for (Index i = 0; i < 60; ++i) {
    for (Index j = 0; j < 30; ++j) x(i, j) = 0.37 * numbers(60, 30)(i, j) * (i % 3 == 0 ? 0.0 : 1.0);
    x(i, 5) *= i == 7 ? 0.01 : 0.0;  // nearly constant
  }
  EXPECT_EQ(advice_for(support::dense<double>(x)).scale, Scaling::none) << "intensities";
  for (Index i = 0; i < 60; ++i) x(i, 3) *= 5000.0;
  EXPECT_EQ(advice_for(support::dense<double>(x)).scale, Scaling::standard) << "money among them";
}

}  // namespace
}  // namespace tamis
