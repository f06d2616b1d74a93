#include "tamis/run/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tamis/base/sha256.h"
#include "tests/data/read_support.h"
#include "tests/support/checks.h"

namespace tamis {
namespace {

const std::string kKey = "data=abc\nseed=1\n";

TEST(Checkpoint, GivesBackWhatWasSavedLast) {
  const Folder folder;
  const std::string path = folder.path("state");
  EXPECT_FALSE(Checkpoint(path, kKey).load());
  for (const std::string& state : {std::string("one"), std::string(), std::string("a\n\0b", 4)}) {
    Checkpoint(path, kKey).save([&] { return state; }, true);
    EXPECT_EQ(Checkpoint(path, kKey).load(), state);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path("")), {}), 1);
}

// The first is due at once, the next not before twenty times as long as it took.
TEST(Checkpoint, IsSavedRarelyUnlessAlways) {
  const Folder folder;
  Checkpoint checkpoint(folder.path("state"), kKey);
  int asked = 0;
  const auto state = [&] { return std::to_string(++asked); };
  for (int i = 0; i < 3; ++i) checkpoint.save(state, false);
  EXPECT_LE(asked, 2);
  const int before = asked;
  checkpoint.save(state, true);
  EXPECT_EQ(asked, before + 1);
  EXPECT_EQ(checkpoint.load(), std::to_string(asked));
}

TEST(Checkpoint, EveryDamagedByteAndEveryCutIsNoticed) {
  const std::string whole = checkpoint_bytes(kKey, "the state");
  EXPECT_EQ(checkpoint_state(whole, kKey, "here"), "the state");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string other = whole;
    other[i] = static_cast<char>(other[i] ^ 1);
    support::expect_error(ErrorCode::bad_data, {"here: "}, [&] { checkpoint_state(other, kKey, "here"); });
    support::expect_error(ErrorCode::bad_data, {"here: "}, [&] { checkpoint_state(whole.substr(0, i), kKey, "here"); });
  }
  support::expect_error(ErrorCode::bad_data, {"damaged"}, [&] { checkpoint_state(whole + "x", kKey, "here"); });
  // Sizes of the key that the checksum vouches for.
  for (const char* size : {"26", "-1", "99999999999999999999", "", "x"}) {
    const std::string rest = std::string(size) + "\n" + kKey + "the state";
    support::expect_error(ErrorCode::bad_data, {"damaged"},
                          [&] { checkpoint_state("tamis checkpoint 1\n" + sha256(rest) + "\n" + rest, kKey, "here"); });
  }
}

TEST(Checkpoint, OfAnotherRunIsRefusedAndSaysWhatDiffers) {
  const auto refused = [](const std::string& theirs, const std::string& ours, const std::vector<std::string>& pieces) {
    support::expect_error(ErrorCode::usage, pieces,
                          [&] { checkpoint_state(checkpoint_bytes(theirs, "s"), ours, "here"); });
  };
  refused("data=abc\nseed=2\n", kKey, {"here: the checkpoint of another run: seed=2, need seed=1"});
  refused("data=abc\n", kKey, {"another run", "need seed=1"});
  refused("data=abc\nseed=1\nscale=unit\n", kKey, {"another run: scale=unit"});
  refused("data=abc\nseed=1", kKey, {"another run"});
}

TEST(Checkpoint, APathThatCannotBeWrittenIsRefusedAtOnce) {
  const Folder folder;
  support::expect_error(ErrorCode::usage, {"need a file"}, [&] { Checkpoint(folder.path(""), kKey); });
  std::filesystem::create_directory(folder.path("below"));
  support::expect_error(ErrorCode::usage, {"need a file"}, [&] { Checkpoint(folder.path("below"), kKey); });
  support::expect_error(ErrorCode::usage, {"is a file"},
                        [&] { Checkpoint(folder.write("file", "x") + "/state", kKey); });
}

}  // namespace
}  // namespace tamis
