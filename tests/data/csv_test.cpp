#include "tamis/data/formats/csv.h"

#include <chrono>
#include <clocale>
#include <cmath>

#include "read_support.h"
#include "tamis/base/text/number.h"
#include "tamis/data/formats/csv_scanner.h"
#include "tests/support/seeds.h"

namespace tamis {
namespace {

Reading parse(const std::string& text, const ReadOptions& options = {}, char delimiter = 0) {
  Context context(1);
  const auto bytes = open_memory(text, "x.csv");
  return read_csv(*bytes, delimiter, options, context);
}

std::string refused(const std::string& text, const ReadOptions& options = {}, char delimiter = 0) {
  return error_of(ErrorCode::bad_data, [&] { parse(text, options, delimiter); });
}

TEST(Csv, ReadsNamesAndNumbers) {
  const Table table = parse("a,b\n1,2.5\n-3e2, +4 \n").table;
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values(table.source), (Rows{{1, 2.5}, {-300, 4}}));
  EXPECT_TRUE(table.text);
}

TEST(Csv, FirstLineOfNumbersIsNoHeader) {
  const Table table = parse("1,2\n3,4").table;
  EXPECT_TRUE(table.names.empty());
  EXPECT_EQ(values(table.source), (Rows{{1, 2}, {3, 4}}));
}

TEST(Csv, HeaderOptionDecides) {
  ReadOptions options;
  options.header = ReadOptions::Header::yes;
  EXPECT_EQ(parse("1,2\n3,4\n5,6\n", options).table.names, (std::vector<std::string>{"1", "2"}));
  options.header = ReadOptions::Header::no;
  EXPECT_EQ(refused("a,b\n3,4\n5,6\n", options),
            "x.csv: 2 columns are not numbers: 0 (text, first \"a\" at line 1), 1 (text, first \"b\" at line 1); "
            "--skip N passes lines above the table");
}

TEST(Csv, FirstLineWithMissingValueIsNotTakenForAHeader) {
  const std::string rest = "--missing drop-rows, drop-columns, mean or median handles them";
  EXPECT_EQ(refused("1.5,NA\n1,2\n3,4\n"),
            "x.csv: 1 missing value in 1 of 2 columns and 1 of 3 rows, first at line 1, column 1 (\"NA\"); " + rest);
  EXPECT_EQ(refused("1.5,\n1,2\n3,4\n"),
            "x.csv: 1 missing value in 1 of 2 columns and 1 of 3 rows, first at line 1, column 1 (blank); " + rest);
  EXPECT_EQ(parse(",0,1\n5,1,2\n6,3,4\n").table.names, (std::vector<std::string>{"", "0", "1"}));  // pandas
}

TEST(Csv, AnUnnamedColumnThatCountsNamesTheRows) {
  for (const auto& [text, first] :
       {std::pair{",a,b\n0,5,6\n1,7,8\n2,9,1\n", "0"}, {"\"\",\"a\",\"b\"\n\"1\",5,6\n\"2\",7,8\n\"3\",9,1\n", "1"}}) {
    const Table table = parse(text).table;
    EXPECT_EQ(values(table.source), (Rows{{5, 6}, {7, 8}, {9, 1}})) << text;
    EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(table.columns, (std::vector<Index>{1, 2}));
    ASSERT_EQ(table.row_ids.size(), 3U);
    EXPECT_EQ(table.row_ids[0], first);
    ASSERT_EQ(table.notes.size(), 1U);
    EXPECT_NE(table.notes[0].find("counts the rows"), std::string::npos);
  }
  for (const char* text : {",a\n0,5\n2,7\n", ",a\n3,5\n4,7\n", "i,a\n0,5\n1,7\n", "a,\n5,0\n7,1\n"}) {
    const Table table = parse(text).table;
    EXPECT_EQ(table.source.cols(), 2) << text;
    EXPECT_TRUE(table.notes.empty() && table.row_ids.empty() && table.columns.empty()) << text;
  }
  Context context(1);
  const auto later = open_memory(",a\n40,5\n41,7\n", "x.csv");  // a shard whose index goes on
  EXPECT_EQ(read_csv(*later, 0, {}, context, 40).table.row_ids, (std::vector<std::string>{"40", "41"}));
}

std::string warned(const std::string& text, const ReadOptions& options = {}) {
  std::string message;
  Context context(1);
  context.on_warning = [&](const Warning& line) { message += line.text() + "\n"; };
  read_csv(*open_memory(text, "x.csv"), 0, options, context);
  return message;
}

// As of df.sample(n).to_csv() and of pd.concat(): it stays a feature.
TEST(Csv, AnUnnamedColumnThatMayBeAnIndexIsWarnedAbout) {
  for (const char* text : {",a\n3,5\n0,7\n2,9\n", ",a\n0,5\n1,7\n0,9\n1,8\n"}) {
    EXPECT_NE(warned(text).find("no name and holds whole numbers"), std::string::npos) << text;
    EXPECT_NE(warned(text).find("--id 0 takes it"), std::string::npos) << text;
  }
  EXPECT_EQ(warned(",0\n3,5\n1,7\n2,9\n").find("--id"), std::string::npos) << "which is another column";
  for (const char* text : {",a\n3.5,5\n0,7\n2,9\n", ",a\n-3,5\n0,7\n2,9\n", "i,a\n3,5\n0,7\n2,9\n"}) {
    EXPECT_EQ(warned(text), "") << text;
  }
  ReadOptions options;
  options.id_column = "0";
  EXPECT_EQ(warned(",a\n3,5\n0,7\n2,9\n", options), "");
}

TEST(Csv, NamesOfNumbersAreFoundByQuotesAndByAnIndex) {
  const Table quoted = parse("\"5243\",\"1956\"\n30.2,7\n7.2,8\n").table;
  EXPECT_EQ(quoted.names, (std::vector<std::string>{"5243", "1956"}));
  EXPECT_EQ(values(quoted.source), (Rows{{30.2, 7}, {7.2, 8}}));
  const Table rows = parse("\"5243\",\"1956\"\n\"s0\",30.2,7\n\"s1\",7.2,8\n").table;
  EXPECT_EQ(rows.row_ids, (std::vector<std::string>{"s0", "s1"}));
  EXPECT_EQ(rows.names, (std::vector<std::string>{"5243", "1956"}));
  EXPECT_TRUE(parse("\"1\",\"2\"\n\"3\",\"4\"\n\"5\",\"6\"\n").table.names.empty()) << "all in quotes";
  for (const char* index : {"0,1", "1,2", "s0,s1"}) {
    const std::string word = index;
    const std::size_t at = word.find(',');
    const Table years = parse(",1990,1991\n" + word.substr(0, at) + ",5,6\n" + word.substr(at + 1) + ",7,8\n").table;
    EXPECT_EQ(years.names, (std::vector<std::string>{"1990", "1991"})) << index;
    EXPECT_EQ(values(years.source), (Rows{{5, 6}, {7, 8}})) << index;
  }
  EXPECT_NE(refused(",3,4\n5,6,7\n8,9,1\n").find("1 missing value"), std::string::npos) << "a row";
  EXPECT_NE(refused(",3,3\n0,6,7\n1,9,1\n").find("1 missing value"), std::string::npos) << "no names";
}

TEST(Csv, RowsOfBlankCellsAreSkipped) {
  for (const char* text : {"a,b\n1,2\n,\n3,4\n,\n , \n", "a,b\n1,2\n3,4\n,"}) {
    const Table table = parse(text).table;
    EXPECT_EQ(values(table.source), (Rows{{1, 2}, {3, 4}})) << text;
    EXPECT_EQ(table.notes.size(), 1U) << text;
  }
  EXPECT_NE(parse("a,b\n1,2\n,\n3,4\n,\n").table.notes[0].find("2 rows of blank cells are skipped, first line 3"),
            std::string::npos);
  const Table ids = parse("a,b\nx,2\n,\ny,4\n",
                          [] {
                            ReadOptions options;
                            options.id_column = "a";
                            return options;
                          }())
                        .table;
  EXPECT_EQ(ids.row_ids, (std::vector<std::string>{"x", "y"}));
  EXPECT_NE(refused("a,b\n1,2\nNA,NA\n").find("2 missing values"), std::string::npos) << "said to be missing";
}

TEST(Csv, WarnsOfARowThatMayBeAHeader) {
  EXPECT_NE(warned("2001,2002,2003\n5,1,7\n4,4,2\n").find("--header yes"), std::string::npos);
  EXPECT_NE(warned("0,1,2,3\n5,1,7,2\n4,4,2,2\n").find("line 1"), std::string::npos);
  EXPECT_NE(warned("9.5,8.5,8.2,7,3.1,2\n5,1,7,2,2,1\n").find("--header yes"), std::string::npos);
  const std::string rows = "30.2,89.2,2967\n7.22,58.5,4248\n22.09,47.1,3281\n17.16,77.3,1969\n";
  EXPECT_NE(warned("101,55,230\n" + rows).find("--header yes"), std::string::npos);
  EXPECT_NE(warned("5243,1956,672\n3,4,1\n2,2,5\n1,3,2\n4,1,3\n").find("--header yes"), std::string::npos);
  EXPECT_EQ(warned("30.5,55,2301\n" + rows), "") << "not whole";
  EXPECT_EQ(warned("55,55,2301\n" + rows), "") << "a number twice";
  EXPECT_EQ(warned("31,55,2301\n" + rows + "8,59,4000\n"), "") << "another row has whole numbers, too";
  EXPECT_EQ(warned("1,2\n5,1\n"), "") << "two numbers rise as often as not";
  EXPECT_EQ(warned("3,5,9\n5,1,7\n"), "") << "so few rise by chance";
  EXPECT_EQ(warned("5,6,7\n5,1,7\n"), "") << "steps of one, but from no usual start";
  EXPECT_EQ(warned("2001.5,2002.5,2003.5\n5,1,7\n"), "") << "no years";
  EXPECT_EQ(warned("2001,2002,2003\n2002,2004,2009\n5,1,7\n"), "") << "another row rises, too";
}

TEST(Csv, WarnsOfAHeaderThatMayBeARow) {
  Context context(1);
  std::vector<std::string> warnings;
  context.on_warning = [&](const Warning& warning) { warnings.push_back(warning.text()); };
  ReadOptions options;
  options.labels = {"1"};
  read_csv(*open_memory("5.1,setosa\n4.9,setosa\n6.3,virginica\n", "x.csv"), 0, options, context);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_NE(warnings[0].find("--header no"), std::string::npos);
  read_csv(*open_memory("id,2019\n1,2\n3,4\n", "x.csv"), 0, {}, context);
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(Csv, EveryLineEndAndByteOrderMark) {
  const Rows wanted = {{1, 2}, {3, 4}};
  for (const char* text : {"a,b\n1,2\n3,4", "a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4\r",
                           "\xEF\xBB\xBF"
                           "a,b\n1,2\n3,4\n\n\n",
                           "\n\na,b\n1,2\n3,4\n  \n", "\"a\",b\n\"1\",2\n 3 ,\"4\" \n"}) {
    const Table table = parse(text).table;
    EXPECT_EQ(values(table.source), wanted) << text;
    EXPECT_EQ(table.names[0], "a") << text;
  }
}

TEST(Csv, TheEndMarkOfDosEndsTheText) {
  for (const char* text : {"a,b\n1,2\n3,4\n\x1A", "a,b\n1,2\n3,4\x1A", "a,b\r\n1,2\r\n3,4\r\n\x1A"}) {
    EXPECT_EQ(values(parse(text).table.source), (Rows{{1, 2}, {3, 4}})) << text;
  }
  EXPECT_EQ(refused("\x1A"), refused(""));
}

TEST(Csv, DelimitersAndDecimalComma) {
  const Rows wanted = {{1.5, 2}, {3, 4.25}};
  EXPECT_EQ(values(parse("1.5;2\n3;4.25\n").table.source), wanted);
  EXPECT_EQ(values(parse("1,5;2\n3;4,25\n").table.source), wanted);
  EXPECT_EQ(values(parse("a;b\n1,5;2\n3;4,25\n").table.source), wanted);
  EXPECT_EQ(values(parse("1.5\t2\n3\t4.25\n").table.source), wanted);
  EXPECT_EQ(values(parse("1.5\t2\n3\t4.25\n", {}, '\t').table.source), wanted);
  EXPECT_NE(refused("a;b\n1,5;2.5\n3;4\n").find("line 2, column b"), std::string::npos);
  EXPECT_NE(refused("a;b\n1.5;2\n3;4,5\n").find("line 3, column b"), std::string::npos);
  EXPECT_NE(refused("a;b\n1.234,5;2\n3;4\n").find("line 2, column a"), std::string::npos);
  EXPECT_NE(refused("a;b\n1,234,567;2\n3;4\n").find("line 2, column a"), std::string::npos);
  EXPECT_NE(refused("a,b\n\"1,5\",2\n3,4\n").find("line 2, column a"), std::string::npos);
  for (const std::string mark : {"\t", "|"}) {
    EXPECT_EQ(values(parse("a" + mark + "b\n1,5" + mark + "2\n3" + mark + "4,25\n").table.source), wanted) << mark;
  }
}

std::string missing_refused(const std::string& cell) { return refused("a,b\n1," + cell + "\n3,4\n5," + cell + "\n"); }

TEST(Csv, MissingValuesAreCounted) {
  for (const char* cell : {"", " ", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "#N/A", "#DIV/0!", "-",
                           "?", ".", "\"NA\"", "<NA>"}) {
    EXPECT_NE(
        missing_refused(cell).find("2 missing values in 1 of 2 columns and 2 of 3 rows, first at line 2, column b"),
        std::string::npos)
        << cell;
    ReadOptions options;
    options.missing = Missing::keep;
    const Rows read = values(parse("a,b\n1," + std::string(cell) + "\n3,4\n", options).table.source);
    EXPECT_TRUE(std::isnan(read[0][1]) && read[1][1] == 4) << cell;
  }
  for (const char* cell :
       {"#NV", "#WERT!", "#VALEUR!", "\\N", "NaT", "..", ":", "(null)", "[NULL]", "-nan(ind)", "n.d.", "\u2014"}) {
    EXPECT_NE(missing_refused(cell).find("2 missing values"), std::string::npos) << cell;
  }
  for (const char* cell : {"NAN1", "nada", "-x", "...", "??"}) {
    EXPECT_NE(missing_refused(cell).find("is not a number"), std::string::npos) << cell;
  }
}

TEST(Csv, BooleansAreOneAndZero) {
  EXPECT_EQ(values(parse("a,b\nTRUE,1\nfalse,2\nTrue,3\n0,4\n").table.source), (Rows{{1, 1}, {0, 2}, {1, 3}, {0, 4}}));
  EXPECT_EQ(values(parse("TRUE,1\nFALSE,2\n").table.source), (Rows{{1, 1}, {0, 2}})) << "a row, not a header";
  EXPECT_NE(refused("a,b\n1,TRUE\n2,7\n").find("column b: \"TRUE\" stands among numbers"), std::string::npos);
}

TEST(Csv, MinusSignsOfTypesetters) {
  EXPECT_EQ(values(parse("a,b\n\u22121.5,2\n3,4e\u22122\n").table.source), (Rows{{-1.5, 2}, {3, 0.04}}));
}

TEST(Csv, ThousandsAreReadOnlyWhereAnnounced) {
  const std::string text = "a,b\n\"1,234\",1\n\"-1,234,567.5\",2\n12,3\n";
  EXPECT_EQ(refused(text),
            "x.csv: line 2, column a: \"1,234\" has separators between thousands (--thousands , reads them)");
  ReadOptions options;
  options.thousands = ",";
  EXPECT_EQ(values(parse(text, options).table.source), (Rows{{1234, 1}, {-1234567.5, 2}, {12, 3}}));
  EXPECT_NE(refused("a,b\n\"1,23\",1\n2,2\n", options).find("column a"), std::string::npos) << "no group of three";
  options.thousands = ".";
  EXPECT_EQ(values(parse("a;b\n1.234,5;1.234\n-1.234.567;2,25\n", options).table.source),
            (Rows{{1234.5, 1234}, {-1234567, 2.25}}));
  EXPECT_NE(refused("a;b\n1.234,5;1\n2;2\n").find("--thousands . reads"), std::string::npos);
  options.thousands = "space";
  EXPECT_EQ(values(parse("a;b\n1 234,5;1\n12\u202f345;2\n", options).table.source), (Rows{{1234.5, 1}, {12345, 2}}));
  EXPECT_NE(refused("a;b\n1 234;1\n2;2\n").find("--thousands space"), std::string::npos);
  options.thousands = "'";
  for (const char* mark : {"'", "\u2019"}) {
    const std::string swiss = concat("a,b\n1", mark, "234.5,1\n2,2\n");
    EXPECT_EQ(values(parse(swiss, options).table.source), (Rows{{1234.5, 1}, {2, 2}}));
    EXPECT_NE(refused(swiss).find("--thousands \"'\" reads them"), std::string::npos) << refused(swiss);
  }
}

// 1,234 is 1.234 or 1234; as long as no other number tells, neither is taken for granted.
TEST(Csv, CommasInDoubtAreRefused) {
  EXPECT_NE(refused("a;b\n1,234;1\n5,678;2\n").find("--thousands , reads it as 1234"), std::string::npos);
  EXPECT_EQ(values(parse("a;b\n1,234;1\n5,67;2\n").table.source), (Rows{{1.234, 1}, {5.67, 2}}));
  EXPECT_EQ(values(parse("a;b\n1,234;1\n0,678;2\n").table.source), (Rows{{1.234, 1}, {0.678, 2}}));
  ReadOptions options;
  options.thousands = ".";
  EXPECT_EQ(values(parse("a;b\n1,234;1\n5,678;2\n", options).table.source), (Rows{{1.234, 1}, {5.678, 2}}));
  options.thousands = ",";
  EXPECT_EQ(values(parse("a;b\n1,234;1\n5,678;2\n", options).table.source), (Rows{{1234, 1}, {5678, 2}}));
}

// So is 1.234 beside 987, since points may stand between thousands, too; but three decimals are not.
TEST(Csv, PointsInDoubtAreRefused) {
  const std::string both = refused("a;b\n3.967;12,500\n5.248;7,220\n");
  EXPECT_NE(both.find("line 2, column a: \"3.967\", and \"12,500\" in column b"), std::string::npos) << both;
  EXPECT_NE(both.find("--thousands . or --thousands , says which"), std::string::npos) << both;
  EXPECT_NE(refused("a;b\n12,500;3.967\n").find("says which"), std::string::npos);
  for (const char* text : {"a;b\n3.967;30,2\n", "a;b\n30,2;3.967\n", "a\tb\n30,2\t3.967\n"}) {
    EXPECT_NE(refused(text).find("\"3.967\" has separators between thousands (--thousands . reads"), std::string::npos)
        << refused(text);
  }
  EXPECT_NE(refused("a;b\n3,967;30.2\n").find("\"3,967\" has separators between thousands (--thousands , reads"),
            std::string::npos);
  for (const char* text : {"a;b\n1.967;5\n987;6\n", "a\tb\n1.967\t5\n987\t6\n"}) {
    const std::string said = refused(text);
    EXPECT_NE(said.find("line 2, column a: \"1.967\" may have decimals or thousands"), std::string::npos) << said;
    EXPECT_NE(said.find("as 987; --thousands . reads it as 1967, --thousands , as decimals"), std::string::npos)
        << said;
    ReadOptions options;
    options.thousands = ".";
    EXPECT_EQ(values(parse(text, options).table.source), (Rows{{1967, 5}, {987, 6}}));
    options.thousands = ",";
    EXPECT_EQ(values(parse(text, options).table.source), (Rows{{1.967, 5}, {987, 6}}));
  }
  for (const char* text : {"a;b\n1.967;5\n0.987;6\n", "a\tb\n1.967\t5\n9.870\t6\n", "a;b\n1.967;5\n9.8;600\n",
                           "a,b\n1.967,5\n987,6\n", "a;b\n1.967e+02;5\n2.000e+00;6\n", "a\tb\n1.967\t5\n0\t6\n"}) {
    EXPECT_EQ(values(parse(text).table.source).size(), 2U) << text;
    EXPECT_EQ(warned(text), "") << text;
  }
  EXPECT_NE(warned("a;b\n1.967;5.111\n9.870;6.222\n").find("--thousands . if these are thousands"), std::string::npos);
}

// R never repeats a row name.
TEST(Csv, DecimalCommasAreNotTakenForRowNames) {
  EXPECT_NE(refused("temp\n20,15\n18,99\n18,25\n").find("several are \"18\" (numbers with decimal commas need quotes"),
            std::string::npos);
  EXPECT_NE(warned("temp\n20,15\n18,99\n17,25\n").find("commas cut in two"), std::string::npos);
  EXPECT_NE(warned("name,temp\ns0,30,2\ns1,7,22\n").find("commas cut in two"), std::string::npos);
  EXPECT_NE(warned("flow,temp\ns0,30,05\ns1,7,22\n").find("commas cut in two"), std::string::npos);
  for (const char* text :
       {"a,b\ns0,30,2\ns1,7,22\n", "a\n1,15\n2,99\n5,2\n", "\"a\"\n\"5\",15\n\"2\",99\n", "a\tb\n3\t5\t6\n1\t7\t8\n"}) {
    EXPECT_EQ(warned(text), "") << text;
  }
}

TEST(Csv, RefusesByName) {
  const auto says = [](const std::string& cell, const char* words) {
    EXPECT_NE(refused("a,b\n1," + cell + "\n3,4\n").find(words), std::string::npos)
        << cell << refused("a,b\n1," + cell + "\n3,4\n");
  };
  says("12%", "is a percentage");
  says("12.5 %", "is a percentage");
  says("$5", "amount of money");
  says("\"$1,200.50\"", "amount of money");
  says("-\u20ac3", "amount of money");
  says("12 EUR", "amount of money");
  says("2024-01-31", "is a date");
  says("31/01/2024", "is a date");
  says("2024-01-31 12:00", "is a date");
  says("\"1,5\"", "decimal point");
  says("192.168.0.1", "is not a number (");
}

TEST(Csv, AllComplaintsInOneMessage) {
  EXPECT_EQ(
      refused("city,x,date,size\nParis,1,2024-01-01,\"1,000\"\nRome,2,2024-01-02,NA\n"),
      "x.csv: 3 columns are not numbers: city (text, first \"Paris\" at line 2), date (dates, first \"2024-01-01\" "
      "at line 2), size (thousands separators, first \"1,000\" at line 2); --thousands , reads thousands; --id city "
      "uses "
      "the first as row names; --exclude city,date leaves them out; also 1 missing value in 1 of 4 columns and 1 of 2 "
      "rows, first at line 3, column "
      "size (\"NA\"); --missing drop-rows, drop-columns, mean or median handles them");
  std::string names, cells;
  for (int j = 0; j < 30; ++j) {
    names += "c" + std::to_string(j) + (j < 29 ? "," : "\n");
    cells += j < 29 ? "x," : "1\n";
  }
  const std::string message = refused(names + cells + cells);
  EXPECT_NE(message.find("29 columns are not numbers: c0"), std::string::npos);
  EXPECT_NE(
      message.find("c9 (text, first \"x\" at line 2), ...; --id c0 uses the first as row names; --exclude c0,c1,c2"),
      std::string::npos)
      << message;
  EXPECT_NE(refused("\"a b\",c,d\nx,y,1\nx,y,2\n").find("--exclude 0,c leaves"), std::string::npos);
}

// As UTF-16, with a byte-order mark.
std::string utf16(std::u16string_view text, bool big_endian) {
  std::string out;
  for (const char16_t unit : u"\uFEFF" + std::u16string(text)) {
    const char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 0xFF);
    out += big_endian ? std::string{high, low} : std::string{low, high};
  }
  return out;
}

TEST(Csv, Utf16IsDecoded) {
  for (const bool big_endian : {false, true}) {
    const Table table = parse(utf16(u"\u00e9\t\u4e2d\U0001F600\r\n1,5\t2\r\n3\t\u22124\r\n", big_endian)).table;
    EXPECT_EQ(table.names, (std::vector<std::string>{"\u00e9", "\u4e2d\U0001F600"}));
    EXPECT_EQ(values(table.source), (Rows{{1.5, 2}, {3, -4}}));
  }
}

TEST(Csv, LinesAboveTheTableAreSkipped) {
  const Rows wanted = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const std::string rows = "a,b,c\n1,2,3\n4,5,6\n7,8,9\n";
  for (const std::string above :
       {"A title\n", "A title\n\nby: Ada, Bob\n", "A title,,\n,,\n", "# x\n#y,z\n", "\"A\ntitle\"\n"}) {
    const Table table = parse(above + rows).table;
    EXPECT_EQ(values(table.source), wanted) << above;
    EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b", "c"})) << above;
    ASSERT_EQ(table.notes.size(), 1U) << above;
    EXPECT_NE(table.notes[0].find("skipped"), std::string::npos) << above;
    EXPECT_NE(refused(above + rows + "1,x,3\n")
                  .find("line " + std::to_string(5 + std::count(above.begin(), above.end(), '\n')) + ", column b"),
              std::string::npos)
        << refused(above + rows + "1,x,3\n");
  }
  EXPECT_EQ(values(parse("sep=;\na;b\n1;2\n3;4,5\n").table.source), (Rows{{1, 2}, {3, 4.5}}));
  EXPECT_TRUE(parse("sep=;\na;b\n1;2\n3;4,5\n").table.notes.empty());
  EXPECT_EQ(parse("#a,b\n1,2\n3,4\n").table.names[0], "#a") << "a header, not a comment";
}

TEST(Csv, RowsAreNeverSkipped) {
  for (const char* text :
       {"1,2\n1,2,3\n4,5,6\n", "1\na,b,c\n4,5,6\n7,8,9\n", "a,b,c\n1,2\n3,4,5\n6,7,8\n", "title\n1,2,3\n4,5,6\n"}) {
    EXPECT_NE(refused(text).find("need "), std::string::npos) << text;
  }
  ReadOptions options;
  options.skip = 1;
  EXPECT_EQ(values(parse("1,2\n1,2,3\n4,5,6\n", options).table.source), (Rows{{1, 2, 3}, {4, 5, 6}}));
  EXPECT_EQ(values(parse("1,2\r\n1,2,3\r\n4,5,6\r\n", options).table.source), (Rows{{1, 2, 3}, {4, 5, 6}}));
  options.skip = 9;
  EXPECT_NE(refused("1,2\n3,4\n", options).find("0 rows"), std::string::npos);
}

TEST(Csv, AHeaderOneCellShortLeavesRowNames) {
  const Table table = parse("x\ty\nr1\t1\t2\nr2\t3\t4\n").table;
  EXPECT_EQ(values(table.source), (Rows{{1, 2}, {3, 4}}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"x", "y"}));
  EXPECT_EQ(table.row_ids, (std::vector<std::string>{"r1", "r2"}));
  EXPECT_EQ(table.columns, (std::vector<Index>{1, 2}));
  ReadOptions options;
  options.transpose = true;  // genes in rows, as published
  const Table turned = parse("cell1,cell2\ng1,1,2\ng2,3,4\ng3,5,6\n", options).table;
  EXPECT_EQ(turned.names, (std::vector<std::string>{"g1", "g2", "g3"}));
  EXPECT_EQ(turned.row_ids, (std::vector<std::string>{"cell1", "cell2"}));
}

TEST(Csv, TrailingDelimitersAreNoColumn) {
  for (const char* text : {"a,b,\n1,2,\n3,4,\n", "a,b\n1,2,\n3,4,\n", "1,2,\n3,4,\n"}) {
    EXPECT_EQ(values(parse(text).table.source), (Rows{{1, 2}, {3, 4}})) << text;
  }
  EXPECT_NE(refused("a,b,c\n1,2,\n3,4,\n").find("2 missing values"), std::string::npos) << "c has a name";
  std::string text = "a,b,\n";
  for (int i = 0; i < 30; ++i) text += "1,2,\n";
  EXPECT_NE(refused(text + "3,4,5\n").find("line 32, column 2: \"5\" stands after the delimiter"), std::string::npos);
}

TEST(Csv, SeveralTrailingDelimitersAreNoColumns) {
  const Table table = parse("a,b,,,\n1,2,,,\n3,4,,,\n").table;
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(values(table.source), (Rows{{1, 2}, {3, 4}}));
  ASSERT_EQ(table.notes.size(), 1U);
  EXPECT_NE(table.notes[0].find("the last 3 columns have neither names nor values"), std::string::npos);
}

TEST(Csv, TwoLinesBelowTheHeader) {
  ReadOptions options;
  options.text_columns = {"TIMESTAMP"};
  const Table table = parse(
                          "\"TOA5\",\"CR1000\",\"7\",\"x\",\"y\"\n\"TIMESTAMP\",\"RECORD\",\"temp\"\n"
                          "\"TS\",\"RN\",\"Deg C\"\n\"\",\"\",\"Avg\"\n\"2024-05-01 08:00:00\",0,30.2\n"
                          "\"2024-05-01 08:01:00\",1,7.22\n",
                          options)
                          .table;
  EXPECT_EQ(table.names, (std::vector<std::string>{"RECORD", "temp"}));
  EXPECT_EQ(values(table.source), (Rows{{0, 30.2}, {1, 7.22}}));
  ASSERT_EQ(table.notes.size(), 2U);
  EXPECT_NE(table.notes[1].find("lines 3..4 hold no numbers"), std::string::npos) << table.notes[1];
}

TEST(Csv, SaysThatNothingCutsTheLines) {
  EXPECT_NE(refused("a:b\n1:2\n3:4\n").find("no tab, semicolon, comma or bar cuts the lines"), std::string::npos);
}

TEST(Csv, LocaleDoesNotMatter) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* locale : {"de_DE.UTF-8", "fr_FR.UTF-8"}) std::setlocale(LC_ALL, locale);
  EXPECT_EQ(values(parse("1.5,2\n3,4.25\n").table.source), (Rows{{1.5, 2}, {3, 4.25}}));
  std::setlocale(LC_ALL, before.c_str());
}

TEST(Csv, RefusesWithLineAndColumn) {
  EXPECT_EQ(refused("a,b\n1,2\n3,x\n"),
            "x.csv: line 3, column b: \"x\" is not a number (--exclude b leaves the column out)");
  EXPECT_EQ(refused("a,b\nr1,2\nr2,4\n"),
            "x.csv: line 2, column a: \"r1\" is not a number (--id a uses the column as "
            "row names, --exclude a leaves the column out)");
  EXPECT_EQ(refused("a,b\n1,-inf\n3,4\n"), "x.csv: line 2, column b: \"-inf\" is not finite");
  EXPECT_EQ(refused("a,b\n1,1e999\n3,4\n"), "x.csv: line 2, column b: \"1e999\" is too large for a double");
  EXPECT_EQ(refused("a,b\n1,2\n\n3,4\n"),
            "x.csv: line 3: a blank line between rows; remove it, or what stands below the table");
  EXPECT_EQ(refused("a,b\n1,2\n3\n"), "x.csv: line 3: 1 cell, need 2 as in line 1");
  EXPECT_EQ(refused("a,b\n1,2\n3,4,5\n"), "x.csv: line 3: more than 2 cells, need 2 as in line 1");
  EXPECT_EQ(refused("a,b\n1,2\n\"3,4\n"), "x.csv: line 3: the quote is never closed");
  EXPECT_EQ(refused("a,b\n1,2\n\"3\"x,4\n"), "x.csv: line 3: text after a closing quote");
  EXPECT_EQ(refused(std::string("a,b\n1,2\n3\0,4\n", 14)),
            "x.csv: line 3: a NUL byte, need text in UTF-8, or in UTF-16 with a byte-order mark");
  EXPECT_EQ(refused("a,b\n1,0x1p3\n3,4\n"),
            "x.csv: line 2, column b: \"0x1p3\" is not a number (--exclude b leaves the column out)");
  EXPECT_EQ(refused("a,b\n1,\x1b[31mred\n3,4\n"),
            "x.csv: line 2, column b: \"\\x1b[31mred\" is not a number (--exclude b leaves the column out)");
  EXPECT_EQ(refused("\xFF\xFE"
                    "a"),
            "x.csv: UTF-16 text with an odd number of bytes");
  EXPECT_EQ(refused(std::string("\xFF\xFE"
                                "a\0\0\xDC",
                                6)),
            "x.csv: invalid UTF-16 at byte 4");
}

TEST(Csv, LinesInQuotesAreCounted) {
  EXPECT_NE(refused("\"a\nb\",c\n1,2\n3,x\n").find("line 4, column c"), std::string::npos);
}

TEST(Csv, SaysHowManyRowsAreNeeded) {
  EXPECT_EQ(refused(""), "x.csv: 0 rows, need at least 2");
  EXPECT_EQ(refused("\n \n"), "x.csv: 0 rows, need at least 2");
  EXPECT_EQ(refused("a,b\n"), "x.csv: 0 rows, need at least 2");
  EXPECT_EQ(refused("a,b\n1,2\n"), "x.csv: 1 row, need at least 2");
  ReadOptions options;
  options.id_column = "a";
  EXPECT_EQ(refused("a\nx\ny\n", options), "x.csv: 0 columns, need at least 1");
}

TEST(Csv, NamesAreExactBytes) {
  const Table table = parse("<script>, b,\"q\"\"q\",\xff,,x,x\n1,2,3,4,5,6,7\n1,2,3,4,5,6,7\n").table;
  EXPECT_EQ(table.names, (std::vector<std::string>{"<script>", " b", "q\"q", "\xff", "", "x", "x"}));
}

TEST(Csv, TextColumnsAreLeftOut) {
  ReadOptions options;
  options.id_column = "id";
  options.labels = {"y"};
  options.text_columns = {"note", "z", "absent"};
  const Table table = parse("id,a,y,note,z\nr 1,1,10,3,7\nr2,2,2,hello,8\nr3,3,2.0,4,9\n", options).table;
  EXPECT_EQ(table.names, (std::vector<std::string>{"a", "z"}));
  EXPECT_EQ(values(table.source), (Rows{{1, 7}, {2, 8}, {3, 9}}));
  EXPECT_EQ(table.row_ids, (std::vector<std::string>{"r 1", "r2", "r3"}));
  EXPECT_EQ(table.excluded_columns, (std::vector<std::string>{"id", "y", "note"}));
  EXPECT_EQ(table.labels.at("y").names, (std::vector<std::string>{"2", "10"}));
  EXPECT_EQ(table.labels.at("y").classes, (std::vector<int>{1, 0, 0}));
}

TEST(Csv, ColumnsByPositionWithoutHeader) {
  ReadOptions options;
  options.header = ReadOptions::Header::no;
  options.labels = {"2"};
  options.text_columns = {"0"};
  const Table table = parse("p,1,u\nq,2,\n", options).table;
  EXPECT_EQ(values(table.source), (Rows{{1}, {2}}));
  EXPECT_EQ(table.labels.at("2").classes, (std::vector<int>{0, -1}));
  EXPECT_EQ(table.excluded_columns, (std::vector<std::string>{"0", "2"}));
}

TEST(Csv, UnknownIdIsUsage) {
  ReadOptions options;
  options.id_column = "nope";
  EXPECT_NE(error_of(ErrorCode::usage, [&] { parse("a,b\n1,2\n3,4\n", options); }).find("nope"), std::string::npos);
  options.id_column = "a";
  EXPECT_NE(error_of(ErrorCode::usage, [&] { parse("a,a\n1,2\n3,4\n", options); }).find("2 columns"),
            std::string::npos);
}

TEST(Csv, TransposeSwapsNamesAndIds) {
  ReadOptions options;
  options.id_column = "gene";
  options.transpose = true;
  const Table table = parse("gene,s1,s2\ng1,1,2\ng2,3,4\ng3,5,6\n", options).table;
  EXPECT_EQ(values(table.source), (Rows{{1, 3, 5}, {2, 4, 6}}));
  EXPECT_EQ(table.names, (std::vector<std::string>{"g1", "g2", "g3"}));
  EXPECT_EQ(table.row_ids, (std::vector<std::string>{"s1", "s2"}));
}

// Rows that straddle the pieces in which the text is read.
TEST(Csv, LongTextIsReadWhole) {
  std::string text = "a,b,c\r\n";
  const Index rows = 300000;
  for (Index i = 0; i < rows; ++i) text += std::to_string(i) + ",\"" + std::to_string(i % 7) + "\"," + "0.125\r\n";
  const Rows read = values(parse(text).table.source);
  ASSERT_EQ(static_cast<Index>(read.size()), rows);
  for (Index i = 0; i < rows; ++i) {
    ASSERT_EQ(read[static_cast<std::size_t>(i)],
              (std::vector<double>{static_cast<double>(i), static_cast<double>(i % 7), 0.125}));
  }
}

// A text whose last byte is the last of a piece, with and without a line end.
TEST(Csv, TextThatEndsWithAPiece) {
  constexpr std::size_t kPiece = (std::size_t{4} << 20) - 1;
  for (const char* end : {"1,2\n", "1,2\r", "\r\n", ",2", "12,"}) {
    std::string text = "a,b\n";
    while (text.size() < kPiece - 64) text += "1.5,2.5\n";
    text += "3,";
    text.resize(kPiece - std::string(end).size(), '4');
    text += end;
    try {
      parse(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_data);
    }
  }
}

TEST(Csv, OneHugeLine) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_NE(refused(std::string(100 << 20, '1')).find("line 1"), std::string::npos);
  EXPECT_NE(refused("a\n1\n\"" + std::string(8 << 20, 'x')).find("line 3"), std::string::npos);
  std::string cells;
  cells.reserve(40 << 20);
  while (cells.size() < (40 << 20)) cells += "1,2,";
  EXPECT_NE(refused(cells).find("columns"), std::string::npos);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(Csv, MemoryLimit) {
  Context context(1);
  context.memory_limit = 1 << 20;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += "1,2,3,4\n";
  const auto bytes = open_memory(text, "x.csv");
  EXPECT_NE(error_of(ErrorCode::resources, [&] { read_csv(*bytes, 0, {}, context); }).find("x.csv"), std::string::npos);
}

TEST(Csv, CutAtEveryByteNeverCrashes) {
  const std::string text = "id,\"a\"\"b\",c\r\n\"x,1\",1.5,2\r\ny,-3e-2,4\r\nz,5,6";
  ReadOptions options;
  options.id_column = "id";
  for (std::size_t size = 0; size < text.size(); ++size) {
    try {
      parse(text.substr(0, size), options);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::bad_data || error.code() == ErrorCode::usage);
    }
  }
}

// Returns whether the short way took it.
bool check_short_decimal(const std::string& text) {
  double fast = 0.0, slow = 0.0;
  const char* end = text.data() + text.size();
  const char* stop = parse_short_decimal(text.data(), end, fast);
  if (stop == nullptr) return false;
  EXPECT_EQ(std::from_chars(text.data(), end, slow).ptr, stop) << text;
  EXPECT_EQ(fast, slow) << text;
  EXPECT_EQ(std::signbit(fast), std::signbit(slow)) << text;
  return true;
}

TEST(Number, ShortDecimalsAgreeWithFromChars) {
  for (const char* const word : {"0",
                                 "-0",
                                 "1",
                                 "12.5",
                                 "-0.1",
                                 "123456789012345678",
                                 "9007199254740993",
                                 "0.30000000000000004",
                                 ".5",
                                 "5.",
                                 "-.25",
                                 "3.14159265358979",
                                 "000000000000.1",
                                 "1e5",
                                 "4.35",
                                 "0e0",
                                 "-0e-5",
                                 "1E+22",
                                 "1e23",
                                 "1.5e-7",
                                 "9007199254740993e0",
                                 "9007199254740992.5",
                                 "9007199254740993.5",
                                 "4503599627370496.5",
                                 "4503599627370497.5",
                                 "9223372036854775809",
                                 "9999999999999999999",
                                 "9.353798674238885E-1",
                                 "12345678.12345678",
                                 "0.00012345678901234567",
                                 "1.7976931348623157e1",
                                 "1e27",
                                 "1e-27",
                                 "9999999999999999999e27",
                                 "9999999999999999999e-27",
                                 "12345678x",
                                 "1.5 "}) {
    EXPECT_TRUE(check_short_decimal(word)) << word;
  }
  for (const char* const word : {"", "-", ".", "1e", "1e+", "1e-x", "-.e5", "1e28", "1e9999", "12345678901234567890"}) {
    EXPECT_FALSE(check_short_decimal(word)) << word;
  }
}

// Sums of whole numbers and powers of two lie on, and beside, the middle between two doubles.
TEST(Number, RoundsToTheNearestOfTwoDoubles) {
  const Random random = support::seeded(1, 91);
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const std::uint64_t bits = random.bits(2 * i), odd = (std::uint64_t{1} << 53 | bits >> 11) | 1;
    const auto few = static_cast<int>(bits % 10);
    check_short_decimal(std::to_string(odd << few));
    check_short_decimal(std::to_string((odd << 3) + bits % 7) + "e" + std::to_string(few - 5));
    check_short_decimal(std::to_string((odd >> 12) * 5) + "e-1");
    const std::string digits = std::to_string(random.bits(2 * i + 1));
    check_short_decimal(digits.substr(0, 19 - few) + "." + digits.substr(0, few) + "e" + std::to_string(few - 20));
    check_short_decimal("-0." + digits.substr(0, 17) + "E-" + std::to_string(few));
  }
}

TEST(Number, EdgesOfRange) {
  double value = 7.0;
  EXPECT_EQ(parse_number("1e-999", value), NumberStatus::ok);
  EXPECT_EQ(value, 0.0);
  EXPECT_EQ(parse_number("0." + std::string(400, '0') + "1", value), NumberStatus::ok);
  EXPECT_EQ(value, 0.0);
  EXPECT_EQ(parse_number("1" + std::string(400, '0'), value), NumberStatus::too_large);
  EXPECT_EQ(parse_number("-1e99999999999999999999", value), NumberStatus::too_large);
  EXPECT_EQ(parse_number("1e-99999999999999999999", value), NumberStatus::ok);
  EXPECT_EQ(parse_number("+-1", value), NumberStatus::not_number);
  EXPECT_EQ(parse_number("1e", value), NumberStatus::not_number);
  EXPECT_EQ(parse_number("5e-324", value), NumberStatus::ok);
  EXPECT_EQ(value, 5e-324);
}

}  // namespace
}  // namespace tamis
