#include "tamis/base/memory.h"
#include "tamis/data/formats/lines.h"
#include "tamis/data/formats/words.h"
#include "tamis/data/stores/csr.h"
#include "tests/data/read_support.h"

namespace tamis {
namespace {

// What readers ask, and what they are refused, in a context with that limit.
struct Limited {
  explicit Limited(std::uint64_t limit) : context(1), budget((context.memory_limit = limit, context), "x.csv") {}
  Context context;
  Budget budget;
};

TEST(Budget, CountsWhatIsHeld) {
  Limited limited(1000);
  Budget& budget = limited.budget;
  budget.take(600);
  budget.require(400);
  EXPECT_EQ(error_of(ErrorCode::resources, [&] { budget.take(401); }),
            "x.csv: needs at least 1001 B of memory, the limit is 1000 B; raise --memory");
  error_of(ErrorCode::resources, [&] { budget.take(UINT64_MAX); });
  budget.give_back(200);
  budget.take(401);
  EXPECT_EQ(budget.left(), 199U);
}

TEST(Budget, VectorsAskBeforeTheyGrow) {
  Limited limited(1000);
  std::vector<double> values;
  const auto add = [&] {
    grow(values, 1, limited.budget);
    values.push_back(1.0);
  };
  for (int i = 0; i < 64; ++i) add();
  EXPECT_EQ(limited.budget.left(), 1000 - 64 * sizeof(double));
  error_of(ErrorCode::resources, add);  // 128 beside the 64
  EXPECT_EQ(values.size(), 64U);
}

TEST(DistinctWords, TakeMemoryOnce) {
  Limited limited(1000);
  DistinctWords words(limited.budget);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(words.add(i % 2 == 0 ? "even" : "odd"), i % 2);
  EXPECT_EQ(words.words(), (std::deque<std::string>{"even", "odd"}));
  error_of(ErrorCode::resources, [&] { words.add(std::string(1000, 'x')); });
}

TEST(LineReader, RefusesLongLinesAndThoseBeyondTheBudget) {
  const std::string text = "short\n" + std::string(100000, 'x') + "\nlast";
  std::string_view line;
  Limited roomy(1 << 20);
  const auto bytes = open_memory(text, "x.mtx");
  LineReader lines(*bytes, roomy.budget, kMostLine);
  EXPECT_TRUE(lines.next(line) && line == "short" && lines.line() == 1);
  EXPECT_TRUE(lines.next(line) && line.size() == 100000 && lines.line() == 2);
  EXPECT_TRUE(lines.next(line) && line == "last" && lines.line() == 3);
  EXPECT_FALSE(lines.next(line));
  EXPECT_EQ(lines.line(), 3);

  const auto again = open_memory(std::string_view(text).substr(6), "x.mtx");
  LineReader narrow(*again, roomy.budget, 4096);
  EXPECT_EQ(error_of(ErrorCode::bad_data, [&] { narrow.next(line); }), "x.mtx: line 1: longer than 4096 bytes");
  Limited tight(50000);
  const auto third = open_memory(std::string_view(text).substr(6), "x.mtx");
  LineReader poor(*third, tight.budget, kMostRow);
  error_of(ErrorCode::resources, [&] { poor.next(line); });
}

TEST(CsrBuilder, RowsFarApartTakeNoMemoryUntilTheEnd) {
  constexpr Index kFar = Index{1} << 30;
  Limited limited(1 << 20);
  CsrBuilder builder(limited.budget);
  for (Index i = 0; i < 3; ++i) builder.add(i, i, 1.0);
  builder.add(kFar, 0, 2.0);
  EXPECT_EQ(builder.entries(), 4U);
  error_of(ErrorCode::resources, [&] { builder.finish(kFar + 1, 3); });
}

TEST(CsrBuilder, RowsFarApartAreSorted) {
  constexpr Index kFar = Index{1} << 20;
  Limited limited(std::uint64_t{1} << 30);
  CsrBuilder builder(limited.budget);
  builder.add(0, 1, 3.0);
  builder.add(kFar, 2, 4.0);
  builder.add(kFar, 0, 5.0);
  const Csr<double> csr = builder.finish(kFar + 1, 3);
  EXPECT_EQ(csr.offsets[1], 1);
  EXPECT_EQ(csr.offsets[kFar], 1);
  EXPECT_EQ(csr.columns, (std::vector<std::int32_t>{1, 0, 2}));
  EXPECT_EQ(csr.values, (std::vector<double>{3.0, 5.0, 4.0}));
}

TEST(CsrBuilder, EntriesAskTheBudget) {
  Limited limited(1 << 20);
  CsrBuilder builder(limited.budget);
  error_of(ErrorCode::resources, [&] {
    for (Index i = 0; i < (1 << 20); ++i) builder.add(0, i, 1.0);
  });
  EXPECT_LT(builder.entries() * 20, std::size_t{1} << 21);
}

TEST(SparseShape, MustBeFilledALittle) {
  const Context context(1);
  require_sparse_shape("x.svm", 3, 1 << 20, 1, context);
  require_sparse_shape("x.svm", 3, 1 << 24, 200000, context);
  EXPECT_NE(error_of(ErrorCode::bad_data, [&] { require_sparse_shape("x.svm", 3, 1 << 24, 4, context); })
                .find("x.svm: 3 x 16777216 with only 4 entries"),
            std::string::npos);
}

}  // namespace
}  // namespace tamis
