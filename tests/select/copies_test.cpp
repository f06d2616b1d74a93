// Exact copies of a column: how they are found, and what every method owes them.
#include "tamis/select/copies.h"

#include <gtest/gtest.h>

#include "tamis/select/registry.h"
#include "tamis/select/ufcm/ufcm.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"
#include "tests/support/ufcm_twin.h"

namespace tamis {
namespace {

using Groups = std::vector<std::vector<Index>>;

Copies copies_of(const Source& source, Context& context) {
  return find_copies(source, column_moments(source, context), context);
}

TEST(Copies, AreFoundInEveryLayout) {
  Matrix x = support::whole_numbers(40, 9, 100, 5);
  support::copy_columns(x, {{1, 4, 7}, {0, 6}});
  for (Index i = 0; i < x.rows(); ++i) {
    x(i, 3) = x((i + 1) % x.rows(), 1);                   // the moments of column 1, in other rows
    x(i, 2) = i % 2 == 0 ? 1 : 2, x(i, 8) = 3 - x(i, 2);  // the same digits and moments, other values
  }
  for (const auto& layout : support::layouts()) {
    for (const Index block_rows : {Index{7}, kBlockRows}) {
      Context context(2);
      const Copies found = copies_of(layout.make(x, block_rows), context);
      EXPECT_EQ(found.group, (std::vector<Index>{0, 1, 2, 3, 1, 4, 0, 1, 5})) << layout.name;
      EXPECT_EQ(found.number, (std::vector<double>{2, 3, 1, 1, 1, 1})) << layout.name;
      EXPECT_EQ(found.firsts(), (std::vector<Index>{0, 1, 2, 3, 5, 8})) << layout.name;
    }
  }
}

TEST(Copies, SeeScalesAndSigns) {
  Matrix x = support::random_matrix(30, 4, 1);
  for (Index i = 0; i < x.rows(); ++i) x(i, 1) = 2 * x(i, 0), x(i, 2) = -x(i, 0), x(i, 3) = x(i, 0);
  x(7, 0) = 0.0, x(7, 3) = -0.0, x(7, 1) = x(7, 2) = 0.0;
  for (const Source& source : {support::dense(x), support::sparse(x)}) {
    Context context(1);
    EXPECT_EQ(copies_of(source, context).group, (std::vector<Index>{0, 1, 2, 0}));
    EXPECT_EQ(copies_of(source.with_column_scale({1, 0.5, 1, 1}), context).group, (std::vector<Index>{0, 0, 1, 0}));
    EXPECT_EQ(copies_of(source.with_column_scale({3, 1, 3, 1}), context).group, (std::vector<Index>{0, 1, 2, 3}));
  }
}

TEST(Copies, CostNothingWhereMomentsDiffer) {
  for (const Source& source : {support::dense(support::random_matrix(50, 20, 3)),
                               support::sparse(support::thinned(support::random_matrix(50, 20, 3), 0.3, 4))}) {
    Context context(1);
    const ColumnMoments moments = column_moments(source, context);
    const Index before = context.passes();
    EXPECT_FALSE(find_copies(source, moments, context).any());
    EXPECT_EQ(context.passes(), before);
  }
}

// --- What methods make of them -------------------------------------------------------------------------------------

Matrix table_with(const Groups& groups, Index n, Index d, double density, std::uint64_t seed) {
  Matrix x = support::thinned(support::mixture(n, d, 3, d / 2, 3, seed), density, seed + 1);
  support::copy_columns(x, groups);
  return x;
}

class CopiesIn : public testing::TestWithParam<std::string> {};

TEST_P(CopiesIn, TableOfAnyUnitTie) {
  const Groups groups = {{1, 5, 4}, {0, 3}};
  for (const auto& [n, d] : {std::pair<Index, Index>{30, 7}, {12, 25}}) {
    for (const double unit : {1e-12, 1e-7, 1e-2, 1.0, 1e4, 1e8, 1e12}) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        Matrix x = table_with(groups, n, d, seed == 1 ? 1 : 0.5, seed);
        for (Index i = 0; i < x.size(); ++i) x.data()[i] *= unit;
        auto method = find_method(GetParam()).bind();
        for (const Option& option : method->options()) {
          if (option.name == "clusters") set_from_text(option, GetParam(), "3");
          if (option.name == "alpha" && seed == 3) set_from_text(option, GetParam(), "4");
        }
        Context context(2);
        const Selection found = method->run(seed == 2 ? support::sparse(x) : support::dense(x), context);
        for (const auto& group : groups) {
          for (const Index j : group) {
            EXPECT_NEAR(found.scores[static_cast<std::size_t>(j)], found.scores[static_cast<std::size_t>(group[0])],
                        1e-9 * support::largest(found.scores))
                << n << " x " << d << ", unit " << unit << ", seed " << seed << ", columns " << group[0] << ", " << j;
          }
        }
      }
    }
  }
}

// mcfs and guided take one copy and leave the others for later.
INSTANTIATE_TEST_SUITE_P(Methods, CopiesIn, testing::Values("ufcm", "ndfs", "rufs", "maxvar", "lapscore", "spec"),
                         [](const auto& param) { return param.param; });

// The objective is that of the whole table, and W'W = I over all of its columns.
TEST(Copies, UfcmReportsTheObjectiveOfTheWholeTable) {
  for (const double alpha : {0.4, 1.0, 3.0}) {
    for (const double p : {0.5, 1.0, 1.6}) {
      const Matrix x = table_with({{1, 5, 4}, {0, 3}}, 40, 8, 1, 6);
      UfcmOptions options;
      options.clusters = 3, options.alpha = alpha, options.p = p;
      Context context(2);
      const Selection found = ufcm(support::dense(x), options, context);
      const double beta = support::scale_free_beta(x, 2, options.sparsity, p);
      const support::UfcmTerms wanted = support::ufcm_terms(x, found.components, found.clusters, p);
      EXPECT_NEAR(found.report.resolved[0].second, beta, 1e-6 * beta);
      EXPECT_NEAR(found.report.objective.back(), wanted.objective(alpha, beta), 1e-6 * wanted.magnitude(alpha, beta));
      EXPECT_LE(support::orthogonality_ratio(found.components), 100);
      for (std::size_t t = 1; t < found.report.objective.size(); ++t) {
        EXPECT_GE(found.report.objective[t], found.report.objective[t - 1] - 1e-9 * wanted.magnitude(alpha, beta));
      }
    }
  }
}

// Directions that only tell copies apart do not vary: there are as many as the rank of the table.
TEST(Copies, LeaveUfcmAsManyDirectionsAsTheTableHas) {
  const Matrix x = table_with({{1, 5, 4}, {0, 3}}, 40, 6, 1, 6);
  UfcmOptions options;
  options.clusters = 8;
  Context context(2);
  EXPECT_EQ(ufcm(support::dense(x), options, context).components.cols(), 3);
}

}  // namespace
}  // namespace tamis
