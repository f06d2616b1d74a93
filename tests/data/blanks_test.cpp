#include "tamis/data/csv/blanks.h"

#include <gtest/gtest.h>

#include <string>

#include "tamis/data/formats/bytes.h"

namespace tamis {
namespace {

std::string with_tabs(const std::string& text) {
  const auto stream = blanks_as_tabs(open_memory(text, "x"));
  std::string out;
  char piece[3];  // cells are cut anywhere
  while (const std::size_t count = stream->read(piece, sizeof piece)) out.append(piece, count);
  return out;
}

TEST(Blanks, RunsOfBlanksAreOneTab) {
  EXPECT_EQ(with_tabs("  1   2\t \t3  \n4 5 6"), "1\t2\t3\n4\t5\t6");
  EXPECT_EQ(with_tabs("1 2\r\n 3 4\r\n"), "1\t2\r\n3\t4\r\n");
  EXPECT_EQ(with_tabs(""), "");
  EXPECT_EQ(with_tabs("   \n  \n"), "\n\n");
}

TEST(Blanks, QuotesAndCommentSignsHoldTogether) {
  EXPECT_EQ(with_tabs("\"a  b\"  1\n\"c\" 2\n"), "\"a  b\"\t1\n\"c\"\t2\n");
  EXPECT_EQ(with_tabs("# a b\n#a b\n"), "#a\tb\n#a\tb\n");
}

TEST(Blanks, AreTheDelimiterWhereNothingElseIs) {
  for (const char* text : {"1 2\n3 4\n", " 1.5  2\n 3.5  4\n", "a b\n1 2\n3 4\n", "\"a\" \"b\"\n\"1\" 2 3\n\"2\" 4 5\n",
                           "1,5 2,5\n3,5 4,5\n", "# x y\n1 2\n3 4\n", "a b\n1 NA\n3 4\n"}) {
    EXPECT_TRUE(cut_by_blanks(text, true)) << text;
  }
  for (const char* text : {"1,2\n3,4\n", "1, 2\n3, 4\n", "1\t2\n3\t4\n", "1;2\n3;4\n", "1 234;5 678\n2 345;6 789\n",
                           "n\n1 234\n2 345\n", "12 345\t67 890\n12 345\t67 890\n", "a b\nc d\n", "1\n2\n", "1 2\n",
                           "first name,last name\nAnn Lee,3 4\nBob Ray,5 6\n", ""}) {
    EXPECT_FALSE(cut_by_blanks(text, true)) << text;
  }
}

TEST(Blanks, ALineThatIsCutShortDoesNotCount) {
  EXPECT_TRUE(cut_by_blanks("1 2\n3 4\n5", false));
  EXPECT_FALSE(cut_by_blanks("1 2", false));
}

}  // namespace
}  // namespace tamis
