#include "tamis/base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tamis/base/error.h"

namespace tamis {
namespace {

class Parallel : public testing::TestWithParam<int> {};

std::vector<int> count_calls(ThreadPool& pool, Index tasks) {
  std::vector<std::atomic<int>> calls(static_cast<std::size_t>(tasks));
  pool.run(tasks, [&](Index i) { ++calls[static_cast<std::size_t>(i)]; });
  return {calls.begin(), calls.end()};
}

TEST_P(Parallel, EveryTaskRunsOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  for (const Index tasks : {0, 1, 2, 3, 5, 17, 1000}) {
    for (const int count : count_calls(pool, tasks)) ASSERT_EQ(count, 1) << tasks;
  }
}

TEST_P(Parallel, ManyShortRunsLoseNothing) {
  ThreadPool pool(GetParam());
  std::atomic<Index> sum{0};
  for (int round = 0; round < 500; ++round) pool.run(4, [&](Index i) { sum += i + 1; });
  EXPECT_EQ(sum, 500 * 10);
}

TEST_P(Parallel, ExceptionsComeBackAndThePoolLivesOn) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> running{0};
    try {
      pool.run(100, [&](Index i) {
        ++running;
        if (i % 7 == 3) throw Error(ErrorCode::bad_data, "task " + std::to_string(i));
        --running;
      });
      FAIL() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
      EXPECT_EQ(std::string(error.what()).substr(0, 5), "task ");
    }
    EXPECT_GE(running, 1);
    for (const int count : count_calls(pool, 50)) ASSERT_EQ(count, 1);
  }
}

TEST_P(Parallel, AnyTypeOfExceptionIsCarried) {
  ThreadPool pool(GetParam());
  EXPECT_THROW(pool.run(10, [](Index) { throw std::runtime_error("x"); }), std::runtime_error);
  EXPECT_THROW(pool.run(10, [](Index) { throw 42; }), int);
  EXPECT_THROW(pool.run(10, [](Index) { throw std::bad_alloc(); }), std::bad_alloc);
}

TEST_P(Parallel, NoTaskRunsAfterTheCallReturns) {
  ThreadPool pool(GetParam());
  std::atomic<bool> open{true};
  std::atomic<int> late{0};
  EXPECT_THROW(pool.run(64,
                        [&](Index i) {
                          if (!open) ++late;
                          if (i == 0) throw std::runtime_error("first");
                          std::this_thread::yield();
                        }),
               std::runtime_error);
  open = false;
  for (const int count : count_calls(pool, 8)) ASSERT_EQ(count, 1);
  EXPECT_EQ(late, 0);
}

TEST_P(Parallel, NestedRunsStayInTheirThread) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int>> calls(200);
  std::atomic<int> strangers{0};
  pool.run(10, [&](Index i) {
    const auto self = std::this_thread::get_id();
    pool.run(20, [&](Index j) {
      if (std::this_thread::get_id() != self) ++strangers;
      ++calls[static_cast<std::size_t>(i * 20 + j)];
    });
  });
  for (const auto& count : calls) EXPECT_EQ(count, 1);
  EXPECT_EQ(strangers, 0);
}

TEST_P(Parallel, NestedExceptionsReachTheOuterCall) {
  ThreadPool pool(GetParam());
  EXPECT_THROW(pool.run(6,
                        [&](Index) {
                          pool.run(5, [](Index j) {
                            if (j == 4) throw std::runtime_error("deep");
                          });
                        }),
               std::runtime_error);
  for (const int count : count_calls(pool, 30)) ASSERT_EQ(count, 1);
  // After an exception inside a task the caller's thread is an ordinary one again: it shares work out.
  ThreadPool other(GetParam());
  for (const int count : count_calls(other, 30)) ASSERT_EQ(count, 1);
}

TEST_P(Parallel, TwoCallersTakeTurns) {
  ThreadPool pool(GetParam());
  std::atomic<Index> sum{0};
  const auto caller = [&] {
    for (int round = 0; round < 50; ++round) pool.run(20, [&](Index i) { sum += i; });
  };
  std::thread other(caller);
  caller();
  other.join();
  EXPECT_EQ(sum, 2 * 50 * 190);
}

INSTANTIATE_TEST_SUITE_P(Threads, Parallel, testing::Values(1, 2, 3, 5));

TEST(ParallelPool, UsesSeveralThreads) {
  ThreadPool pool(3);
  std::atomic<int> inside{0};
  std::atomic<bool> together{false};
  // Two tasks that meet: they can only do so in different threads.
  pool.run(2, [&](Index) {
    ++inside;
    for (int spin = 0; spin < 2000 && !together; ++spin) {
      if (inside == 2) together = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  EXPECT_TRUE(together);
}

TEST(ParallelPool, ZeroMeansAllCores) {
  EXPECT_GE(available_cores(), 1);
  EXPECT_EQ(ThreadPool(0).threads(), available_cores());
}

// Workers are started by the first work that can use them.
TEST(ParallelPool, UnusedPoolsHaveNoThreads) {
  const std::filesystem::path tasks = "/proc/self/task";
  if (!std::filesystem::exists(tasks)) GTEST_SKIP() << "no /proc";
  const auto threads = [&] {
    return std::distance(std::filesystem::directory_iterator(tasks), std::filesystem::directory_iterator());
  };
  const auto before = threads();
  ThreadPool pool(5);
  pool.run(1, [](Index) {});
  EXPECT_EQ(threads(), before);
  pool.run(2, [](Index) {});
  EXPECT_GE(threads(), before + 4);  // a sanitizer adds one of its own
}

}  // namespace
}  // namespace tamis
