#include "tamis/linalg/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <vector>

#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

// Every set of kernels is tried that this CPU has.
template <class Number, KernelSet Set>
struct On {
  using T = Number;
  static const KernelsFor<T>& kernels() { return tamis::kernels<T>(Set); }
  static constexpr KernelSet kSet = Set;
};

template <class Kind>
class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    if (!cpu_has(Kind::kSet)) GTEST_SKIP() << "this CPU has no " << name_of(Kind::kSet);
  }
};
using Kinds =
    testing::Types<On<double, KernelSet::portable>, On<float, KernelSet::portable>, On<double, KernelSet::avx2>,
                   On<float, KernelSet::avx2>, On<double, KernelSet::avx512>, On<float, KernelSet::avx512>>;
TYPED_TEST_SUITE(Kernels, Kinds);

// Rows packed as the kernels want them; rows that fill up the last panel are 0.
template <class T>
std::vector<T> packed(const Matrix& rows) {
  const Index panels = (rows.rows() + kPanel - 1) / kPanel, m = rows.cols();
  std::vector<T> out(static_cast<std::size_t>(panels * m * kPanel));
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < m; ++j) {
      out[static_cast<std::size_t>((i / kPanel * m + j) * kPanel + i % kPanel)] = static_cast<T>(rows(i, j));
    }
  }
  return out;
}

template <class T>
struct Nearest {
  std::vector<T> best;
  std::vector<std::int32_t> label;
};

template <class Kind, class T = typename Kind::T>
Nearest<T> nearest_of(const Matrix& rows, const std::vector<T>& g, const std::vector<T>& norm) {
  const auto points = packed<T>(rows);
  const Index panels = (rows.rows() + kPanel - 1) / kPanel;
  Nearest<T> out{std::vector<T>(static_cast<std::size_t>(panels * kPanel), T(-77)),
                 std::vector<std::int32_t>(static_cast<std::size_t>(panels * kPanel), -77)};
  Kind::kernels().nearest(points.data(), panels, rows.cols(), g.data(), norm.data(), static_cast<Index>(norm.size()),
                          out.best.data(), out.label.data());
  return out;
}

TYPED_TEST(Kernels, NearestMatchesTheNaiveArgmin) {
  using T = typename TypeParam::T;
  for (const Index rows : {1, 5, 15, 16, 17, 31, 32, 100}) {
    for (const Index m : {1, 2, 3, 7, 16, 33}) {
      for (const Index k : {1, 2, 3, 4, 5, 7, 8, 9, 20}) {
        const Matrix y = support::random_matrix(rows, m, 1), centers = support::random_matrix(k, m, 2);
        std::vector<T> g, norm;
        for (Index q = 0; q < k; ++q) {
          double sum = 0;
          for (Index j = 0; j < m; ++j) {
            g.push_back(static_cast<T>(-2 * centers(q, j)));
            sum += centers(q, j) * centers(q, j);
          }
          norm.push_back(static_cast<T>(sum));
        }
        const auto found = nearest_of<TypeParam>(y, g, norm);
        for (Index i = 0; i < rows; ++i) {
          long double best = std::numeric_limits<long double>::infinity(), chosen = 0;
          const auto at = static_cast<std::size_t>(i);
          for (Index q = 0; q < k; ++q) {
            long double value = norm[static_cast<std::size_t>(q)];
            for (Index j = 0; j < m; ++j) {
              value += static_cast<long double>(static_cast<T>(y(i, j))) * g[static_cast<std::size_t>(q * m + j)];
            }
            best = std::min(best, value);
            if (q == found.label[at]) chosen = value;
          }
          const double tolerance =
              20.0 * static_cast<double>(m + 2) * static_cast<double>(std::numeric_limits<T>::epsilon());
          ASSERT_GE(found.label[at], 0);
          ASSERT_LT(found.label[at], k);
          ASSERT_NEAR(static_cast<double>(chosen), static_cast<double>(best), tolerance)
              << rows << " " << m << " " << k;
          ASSERT_NEAR(static_cast<double>(found.best[at]), static_cast<double>(best), tolerance);
        }
      }
    }
  }
}

// Small whole numbers: every sum is exact, so the label must be exactly the first minimum.
TYPED_TEST(Kernels, TiesGoToTheLowerCentre) {
  using T = typename TypeParam::T;
  for (const Index m : {1, 2, 5}) {
    for (const Index k : {2, 3, 4, 5, 6, 8, 9, 13, 17}) {
      const Matrix y = support::whole_numbers(77, m, 4, 3), centers = support::whole_numbers(k, m, 3, 4);
      std::vector<T> g, norm;
      for (Index q = 0; q < k; ++q) {
        double sum = 0;
        for (Index j = 0; j < m; ++j) {
          g.push_back(static_cast<T>(-2 * centers(q, j)));
          sum += centers(q, j) * centers(q, j);
        }
        norm.push_back(static_cast<T>(sum));
      }
      const auto found = nearest_of<TypeParam>(y, g, norm);
      for (Index i = 0; i < y.rows(); ++i) {
        Index first = 0;
        double least = std::numeric_limits<double>::infinity();
        for (Index q = 0; q < k; ++q) {
          double distance = 0;
          for (Index j = 0; j < m; ++j) distance += std::pow(y(i, j) - centers(q, j), 2);
          if (distance < least) least = distance, first = q;
        }
        ASSERT_EQ(found.label[static_cast<std::size_t>(i)], first) << m << " " << k << " row " << i;
      }
    }
  }
}

// out[t, i] = min(current_i, max(0, ||y_i - c_t||^2)) and its sum, for each candidate t.
TYPED_TEST(Kernels, CandidatesMatchTheDefinition) {
  using T = typename TypeParam::T;
  for (const Index rows : {1, 16, 21, 50}) {
    for (const Index m : {1, 3, 10}) {
      for (const Index count : {1, 2, 3, 4, 5, 9}) {
        const Matrix y = support::random_matrix(rows, m, 5), centers = support::random_matrix(count, m, 6);
        const auto points = packed<T>(y);
        const Index panels = (rows + kPanel - 1) / kPanel;
        const auto total = static_cast<std::size_t>(panels * kPanel);
        std::vector<T> g, norm, square(total), current(total), out(total * static_cast<std::size_t>(count), T(-77));
        std::vector<double> cost(static_cast<std::size_t>(count), -77);
        for (Index t = 0; t < count; ++t) {
          double sum = 0;
          for (Index j = 0; j < m; ++j) {
            g.push_back(static_cast<T>(-2 * centers(t, j)));
            sum += centers(t, j) * centers(t, j);
          }
          norm.push_back(static_cast<T>(sum));
        }
        for (Index i = 0; i < rows; ++i) {
          for (Index j = 0; j < m; ++j) square[static_cast<std::size_t>(i)] += static_cast<T>(y(i, j) * y(i, j));
          current[static_cast<std::size_t>(i)] =
              i % 3 ? static_cast<T>(0.5 * static_cast<double>(i)) : std::numeric_limits<T>::max();
        }
        TypeParam::kernels().candidates(points.data(), panels, m, g.data(), norm.data(), count, square.data(),
                                        current.data(), out.data(), cost.data());
        const double tolerance =
            40.0 * static_cast<double>(m + 2) * static_cast<double>(std::numeric_limits<T>::epsilon());
        for (Index t = 0; t < count; ++t) {
          double sum = 0;
          for (Index i = 0; i < rows; ++i) {
            double distance = 0;
            for (Index j = 0; j < m; ++j) distance += std::pow(y(i, j) - centers(t, j), 2);
            const auto at = static_cast<std::size_t>(i);
            const double wanted = std::min(distance, static_cast<double>(current[at]));
            ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(t) * total + at]), wanted,
                        tolerance * (1 + distance));
            ASSERT_GE(out[static_cast<std::size_t>(t) * total + at], T(0));
            sum += wanted;
          }
          ASSERT_NEAR(cost[static_cast<std::size_t>(t)], sum, tolerance * (1 + sum))
              << rows << " " << m << " " << count;
        }
      }
    }
  }
}

TYPED_TEST(Kernels, SkinnyProductMatchesTheDefinition) {
  using T = typename TypeParam::T;
  for (const Index rows : {0, 1, 2, 3, 4, 5, 7, 8, 13, 64}) {
    for (const Index depth : {0, 1, 2, 9, 40}) {
      for (const Index width : {kWidthStep<T>, 2 * kWidthStep<T>, 3 * kWidthStep<T>, 5 * kWidthStep<T>}) {
        for (const bool transposed : {false, true}) {
          const Index row_step = transposed ? 1 : depth + 3, depth_step = transposed ? rows + 2 : 1;
          const Matrix a = support::random_matrix(rows, depth, 7), v = support::random_matrix(depth, width, 8),
                       c = support::random_matrix(rows, width, 9);
          std::vector<T> at(static_cast<std::size_t>((rows + 3) * (depth + 3)), T(99)), vt, ct;
          for (Index i = 0; i < rows; ++i) {
            for (Index k = 0; k < depth; ++k)
              at[static_cast<std::size_t>(i * row_step + k * depth_step)] = static_cast<T>(a(i, k));
          }
          for (Index i = 0; i < v.size(); ++i) vt.push_back(static_cast<T>(v.data()[i]));
          for (Index i = 0; i < c.size(); ++i) ct.push_back(static_cast<T>(c.data()[i]));
          ct.push_back(T(7));
          TypeParam::kernels().skinny_product(rows, depth, at.data(), row_step, depth_step, vt.data(), width, ct.data(),
                                              nullptr, 0);
          const double tolerance =
              20.0 * static_cast<double>(depth + 2) * static_cast<double>(std::numeric_limits<T>::epsilon());
          for (Index i = 0; i < rows; ++i) {
            for (Index j = 0; j < width; ++j) {
              double wanted = c(i, j);
              for (Index k = 0; k < depth; ++k) wanted += a(i, k) * v(k, j);
              ASSERT_NEAR(static_cast<double>(ct[static_cast<std::size_t>(i * width + j)]), wanted, tolerance)
                  << rows << " " << depth << " " << width;
            }
          }
          ASSERT_EQ(ct.back(), T(7));
        }
      }
    }
  }
}

TYPED_TEST(Kernels, AxpyAddsAndStopsAtItsEnd) {
  using T = typename TypeParam::T;
  for (Index m = 0; m < 40; ++m) {
    std::vector<T> x, y;
    for (Index j = 0; j < m + 3; ++j) x.push_back(static_cast<T>(j)), y.push_back(static_cast<T>(100 - j));
    TypeParam::kernels().axpy(m, T(2), x.data(), y.data());
    for (Index j = 0; j < m + 3; ++j) {
      ASSERT_EQ(y[static_cast<std::size_t>(j)], static_cast<T>(j < m ? 100 + j : 100 - j));
    }
  }
}

template <class Kind, class Src>
void check_center_rows() {
  using T = typename Kind::T;
  const double low = std::numeric_limits<Src>::is_signed ? -100 : 0;
  constexpr Index kRows = 3, kGap = 2;
  for (const Index n : {1, 3, 8, 17, 64}) {
    std::vector<Src> src;
    std::vector<double> center, scale;
    for (Index j = 0; j < kRows * (n + kGap); ++j) {
      src.push_back(static_cast<Src>(low + static_cast<double>(j * 37 % 101)));
      center.push_back(0.1 * static_cast<double>(j));
      scale.push_back(1.0 + 0.3 * static_cast<double>(j));
    }
    src[0] = std::numeric_limits<Src>::max();
    for (const bool centered : {false, true}) {
      for (const bool scaled : {false, true}) {
        std::vector<T> out(static_cast<std::size_t>(kRows * (n + 1)), T(7));
        Kind::kernels().center_rows({src.data(), support::type_of<Src>(), n + kGap, kRows, n,
                                     centered ? center.data() : nullptr, scaled ? scale.data() : nullptr},
                                    out.data(), n + 1);
        for (Index i = 0; i < kRows; ++i) {
          for (Index j = 0; j < n; ++j) {
            const double difference = static_cast<double>(src[i * (n + kGap) + j]) - (centered ? center[j] : 0);
            ASSERT_EQ(out[i * (n + 1) + j], static_cast<T>(scaled ? difference * scale[j] : difference));
          }
          ASSERT_EQ(out[i * (n + 1) + n], T(7));
        }
      }
    }
  }
}

// By their definition, one after the other, with every product rounded: the same bits in every set of kernels.
template <class Kind, class Src>
void check_column_sums(Index rows, Index cols, bool centered, bool scaled) {
  const Index step = cols + 3;
  const Matrix table = support::random_matrix(rows, step, 5), factors = support::random_matrix(2, cols, 6);
  const std::vector<Src> src(table.data(), table.data() + table.size());
  std::vector<double> mean(cols), scatter(cols), low(cols, 0.25), high(cols, -0.25);
  Kind::kernels().column_sums({src.data(), support::type_of<Src>(), step, rows, cols,
                               centered ? factors.row(0) : nullptr, scaled ? factors.row(1) : nullptr},
                              {mean.data(), scatter.data(), low.data(), high.data()});
  for (Index j = 0; j < cols; ++j) {
    std::vector<double> x;
    for (Index i = 0; i < rows; ++i) {
      const double difference = static_cast<double>(src[i * step + j]) - (centered ? factors(0, j) : 0);
      x.push_back(scaled ? difference * factors(1, j) : difference);
    }
    double sum = 0, squares = 0;
    for (const double value : x) sum += value;
    ASSERT_EQ(mean[j], sum / static_cast<double>(rows));
    for (const double value : x) {
      volatile const double square = (value - mean[j]) * (value - mean[j]);
      squares += square;
    }
    ASSERT_EQ(scatter[j], squares);
    ASSERT_EQ(low[j], std::min(0.25, *std::min_element(x.begin(), x.end())));
    ASSERT_EQ(high[j], std::max(-0.25, *std::max_element(x.begin(), x.end())));
  }
}

TYPED_TEST(Kernels, ColumnSumsFollowTheirDefinition) {
  if constexpr (std::is_same_v<typename TypeParam::T, double>) {
    for (const Index cols : {1, 2, 7, 8, 33, 70}) {
      for (const Index rows : {1, 5, 32}) {
        for (const int kind : {0, 1, 2, 3}) {
          check_column_sums<TypeParam, float>(rows, cols, (kind & 1) != 0, (kind & 2) != 0);
          check_column_sums<TypeParam, double>(rows, cols, (kind & 1) != 0, (kind & 2) != 0);
        }
      }
    }
  }
}

TYPED_TEST(Kernels, CenterRowsReadEveryElementType) {
  check_center_rows<TypeParam, double>();
  check_center_rows<TypeParam, std::int8_t>();
  check_center_rows<TypeParam, std::int16_t>();
  check_center_rows<TypeParam, std::int32_t>();
  check_center_rows<TypeParam, std::int64_t>();
  check_center_rows<TypeParam, std::uint8_t>();
  check_center_rows<TypeParam, std::uint16_t>();
  check_center_rows<TypeParam, std::uint32_t>();
  check_center_rows<TypeParam, std::uint64_t>();
}

TEST(KernelsCenterRows, ReadsFloat) {
  const std::vector<float> src = {0.1f, -2.5f, 3e30f, 1e-30f, 0};
  const std::vector<double> center = {0.1, 0, 1, 0, 2}, scale = {2, 3, 4, 5, 6};
  std::vector<double> out(5);
  kernels<double>().center_rows({src.data(), DType::f32, 5, 1, 5, center.data(), scale.data()}, out.data(), 5);
  for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(out[j], (static_cast<double>(src[j]) - center[j]) * scale[j]);
  std::vector<float> narrow(5);
  kernels<float>().center_rows({src.data(), DType::f32, 5, 1, 5, center.data(), nullptr}, narrow.data(), 5);
  for (std::size_t j = 0; j < 5; ++j) EXPECT_EQ(narrow[j], static_cast<float>(static_cast<double>(src[j]) - center[j]));
}

TYPED_TEST(Kernels, FindBelowMatchesTheNaiveLoop) {
  using T = typename TypeParam::T;
  for (const Index count : {0, 1, 15, 16, 31, 32, 33, 64, 200}) {
    const Matrix random = support::random_matrix(2, std::max<Index>(count, 1), 12);
    std::vector<T> values, limits;
    for (Index j = 0; j < count; ++j) {
      values.push_back(static_cast<T>(random(0, j)));
      limits.push_back(j % 7 == 0 ? values.back() : static_cast<T>(random(1, j) - 3));
    }
    for (const T limit : {-std::numeric_limits<T>::infinity(), T(-1), std::numeric_limits<T>::infinity()}) {
      std::vector<std::int32_t> wanted, found(static_cast<std::size_t>(count));
      for (Index j = 0; j < count; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (values[at] <= std::max(limit, limits[at])) wanted.push_back(static_cast<std::int32_t>(j));
      }
      found.resize(static_cast<std::size_t>(
          TypeParam::kernels().find_below(count, values.data(), limit, limits.data(), found.data())));
      EXPECT_EQ(found, wanted);
    }
  }
}

// Products of panels with others, piece by piece of the dimensions.
TYPED_TEST(Kernels, PanelProductsAreSums) {
  using T = typename TypeParam::T;
  const auto& kernel = TypeParam::kernels();
  for (const Index count : {1, 2, 3, 5, 12}) {
    constexpr Index kDepth = 37, kFirst = 20;
    const Random random = support::seeded(1, 60);
    std::vector<T> panel(kDepth * kPanel), others(static_cast<std::size_t>(count * kDepth * kPanel));
    for (std::size_t i = 0; i < panel.size(); ++i) panel[i] = static_cast<T>(random.normal(i));
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = static_cast<T>(random.normal(10'000 + i));
    const Index width = count * kPanel + 16;
    std::vector<T> out(static_cast<std::size_t>(kPanel * width), T(7));
    kernel.panel_products(panel.data(), others.data(), kDepth * kPanel, count, kFirst, false, out.data(), width);
    kernel.panel_products(panel.data() + kFirst * kPanel, others.data() + kFirst * kPanel, kDepth * kPanel, count,
                          kDepth - kFirst, true, out.data(), width);
    for (Index i = 0; i < kPanel; ++i) {
      for (Index j = 0; j < width; ++j) {
        double wanted = 7, size = 0;
        if (j < count * kPanel) {
          wanted = 0;
          for (Index k = 0; k < kDepth; ++k) {
            const double term =
                static_cast<double>(panel[static_cast<std::size_t>(k * kPanel + i)]) *
                static_cast<double>(
                    others[static_cast<std::size_t>(j / kPanel * kDepth * kPanel + k * kPanel + j % kPanel)]);
            wanted += term;
            size += std::abs(term);
          }
        }
        EXPECT_NEAR(static_cast<double>(out[static_cast<std::size_t>(i * width + j)]), wanted,
                    kDepth * static_cast<double>(std::numeric_limits<T>::epsilon()) * size);
      }
    }
  }
}

TYPED_TEST(Kernels, FindNearIsItsDefinition) {
  using T = typename TypeParam::T;
  const Random random = support::seeded(1, 61);
  std::uint64_t drawn = 0;
  const auto draw = [&](std::size_t count) {  // quarters, so that nothing is rounded
    std::vector<T> out(count);
    for (T& value : out) value = static_cast<T>(random.below(drawn++, 33) - 16) / 4;
    return out;
  };
  for (const std::size_t count : {0, 1, 63, 64, 200}) {
    const auto products = draw(count), more = draw(count), parts = draw(count), factors = draw(count),
               limits = draw(count);
    for (int with = 0; with < 4; ++with) {
      DistanceBounds<T> bounds{
          static_cast<Index>(count), products.data(), nullptr, T(2), parts.data(), T(0.5), nullptr};
      if (with % 2 == 1) bounds.more = more.data();
      if (with / 2 == 1) bounds.factors = factors.data();
      std::vector<std::int32_t> wanted, found(count);
      std::vector<T> values, found_values(count);
      for (std::size_t j = 0; j < count; ++j) {
        const T product = products[j] + (with % 2 == 1 ? more[j] : T(0));
        const T value = 2 + parts[j] - T(0.5) * (with / 2 == 1 ? factors[j] : T(1)) * product;
        if (value > std::max(T(-3), limits[j])) continue;
        wanted.push_back(static_cast<std::int32_t>(j));
        values.push_back(value);
      }
      const auto hits = static_cast<std::size_t>(
          TypeParam::kernels().find_near(bounds, T(-3), limits.data(), found.data(), found_values.data()));
      found.resize(hits), found_values.resize(hits);
      EXPECT_EQ(found, wanted);
      EXPECT_EQ(found_values, values);
    }
  }
}

}  // namespace
}  // namespace tamis
