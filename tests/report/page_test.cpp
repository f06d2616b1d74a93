#include "tamis/report/page.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <map>
#include <set>

#include "tamis/base/error.h"
#include "tamis/base/text/utf8.h"
#include "tamis/eval/redundancy.h"
#include "tamis/report/charts/charts.h"
#include "tamis/report/compare_page.h"
#include "tamis/report/embedded.h"
#include "tamis/report/select_page.h"
#include "tests/support/checks.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

using page::Page;
using page::page_html;
using page::TableCell;
using enum page::Column::Kind;

const std::string kHarm = "</script><script>alert(1)</script>";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

template <class Block>
const Block& block_of(const Page& page, const std::string& section, std::size_t nth = 0) {
  for (const auto& one : page.sections) {
    if (one.title != section) continue;
    for (const auto& block : one.blocks) {
      if (const auto* found = std::get_if<Block>(&block); found != nullptr && nth-- == 0) return *found;
    }
  }
  fail(ErrorCode::internal, "no such block in ", section);
}

bool has_section(const Page& page, const std::string& title) {
  return std::any_of(page.sections.begin(), page.sections.end(), [&](const auto& one) { return one.title == title; });
}

// --- Text and frame ---------------------------------------------------------------------------------------------

TEST(Page, TextIsEscaped) {
  EXPECT_EQ(page::html_text("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(page::html_text("\x1b[31m\xff"), "\\x1b[31m\\xff");
  EXPECT_EQ(page::html_text("{{7*7}} \xc3\xa9"), "{{7*7}} \xc3\xa9");
  EXPECT_EQ(page::html_text(std::string(5000, 'x')).size(), 5000u);
}

// Every place that takes a text takes one that means harm, and the page has the elements of a harmless one.
Page page_of(const std::string& word) {
  page::LineChart lines;
  lines.x_title = lines.y_title = word;
  lines.panels = {{word, {{word, {{1, 2}, {2, 3}}}, {word, {{1, 2, 1, 3}}}}}, {word, {{word, {{1, 2}}}, {word, {}}}}};
  lines.markers = {{1, word}};
  page::BarChart bars{word, word, {word, word}, {{word, {{1}, {2, 1, 3}}}}};
  page::HeatMap heat{word, word, word, {word, word}, {word}, {{word, {0.5, 1}}}};
  Page page{word, word, {}};
  page.sections.push_back({word, {page::Text{word}, page::Note{word}, page::Note{word, true}}});
  page.sections.push_back({word, {page::Facts{{{word, word}}}}});
  page.sections.push_back({word, {page::Table{word, word, {{word}}, {{TableCell(word)}}}}});
  for (const auto& spec : {page::line_chart(lines), page::bar_chart(bars), page::heat_map(heat)}) {
    page.sections.push_back({word, {page::Figure{word, word, word, spec}}});
  }
  page.sections.push_back({word, {page::Images{word, word, {{1, 1, {7}, word, word}}}}});
  return page;
}

TEST(Page, HarmfulWordsAddNoElement) {
  const std::string clean = page_html(page_of("word")), harmed = page_html(page_of(kHarm));
  // The scripts of the page itself are the same in both.
  for (const char* part : {"<script", "</script", "<img", "alert(1)<"})
    EXPECT_EQ(count(harmed, part), count(clean, part));
  EXPECT_EQ(harmed.find(kHarm), std::string::npos);
  EXPECT_GT(count(harmed, "&lt;/script&gt;&lt;script&gt;alert(1)"), 20u);
  EXPECT_GT(count(harmed, "\\u003c/script>"), 10u);  // in the data of the figures
}

TEST(Page, SlotsOfTheFrameAreNotReadInTheData) {
  const std::string html = page_html({"@{report}", "@{css}", {}});
  EXPECT_NE(html.find("<title>@{report}</title>"), std::string::npos);
  EXPECT_NE(html.find("<p class=\"summary\">@{css}</p>"), std::string::npos);
}

TEST(Page, PolicyNamesTheHashOfEveryScript) {
  const std::string html = page_html({"t", "s", {}});
  const std::size_t begin = html.find("default-src 'none'; script-src");
  ASSERT_NE(begin, std::string::npos);
  const std::string policy = html.substr(begin, html.find('"', begin) - begin);
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(count(policy, "'sha256-"), 5u);  // four scripts and the styles; tests/page compares them with the bytes
  for (const auto& file : {embedded_vega_js(), embedded_vega_lite_js(), embedded_vega_interpreter_js(),
                           embedded_report_js(), embedded_report_css()}) {
    EXPECT_NE(policy.find(file.hash), std::string::npos);
    EXPECT_NE(html.find(file.bytes), std::string::npos);
    EXPECT_EQ(file.bytes.find("</s"), file.bytes.find("</svg"));  // nothing that ends its element early
  }
}

TEST(Page, CellsAreSpelledByTheirColumn) {
  page::Table table;
  table.columns = {{"n", number, 2}, {"s", significant, 3}, {"p", percent, 1}, {"t"}};
  table.rows = {{TableCell(-1.005), TableCell(0.00123456), TableCell(0.5, 0.0123), TableCell("x")},
                {TableCell(page::kNone), TableCell(), TableCell(), TableCell()}};
  table.rows[0][0].best = true;
  const std::string html = page_html({"", "", {{"", {table}}}});
  EXPECT_NE(
      html.find("<tr><td class=n><b>\u22121.00</b><td class=n>0.00123<td class=n>50.0\u202f% <span class=\"pm\">"
                "\u00b1 1.2\u202f%</span><td>x<tr><td class=n>\u2013<td class=n>\u2013<td class=n>\u2013<td></table>"),
      std::string::npos);
  table.rows.push_back({TableCell("one cell only")});
  EXPECT_THROW(page_html({"", "", {{"", {table}}}}), Error);
}

// What is below 1e-16 is no statement about the table, but rows are sorted by it.
TEST(Page, SmallProbabilitiesAreBoundedAndSortedByTheirValue) {
  page::Table table;
  table.columns = {{"p", probability, 2}, {"n", number, 2}};
  table.rows = {{TableCell(0.0123), TableCell(-0.001)}, {TableCell(3e-183), TableCell(0.0)}};
  const std::string html = page_html({"", "", {{"", {table}}}});
  EXPECT_NE(html.find("<td class=n>0.012<td class=n>0.00<tr>"), std::string::npos);
  EXPECT_NE(html.find("<td class=n data-v=3e-183>&lt; 1e-16<td"), std::string::npos);
}

TEST(Page, NoLineEndsWithinNumbersAndWordsOfCommands) {
  Page page{"50 % of", "", {{"", {page::Text{"50 % of them"}, page::Facts{{{"a", "1 %"}}}}}}};
  page.verdict = {"ACC 64.9 %.", "by 3 points (95 %: 1.0 to 5.0) of it"};
  page.origin = {{"command", "tamis select a.csv --resample 3", true}};
  const std::string html = page_html(page);
  for (const char* words :
       {"<p>50\u00a0% of them", "<dd>1\u00a0%", "ACC 64.9\u00a0%.",
        "points (95\u00a0%:\u00a01.0\u00a0to\u00a05.0) of it",
        "<code><span>tamis</span> <span>select</span> <span>a.csv</span> <span>--resample</span> "}) {
    EXPECT_NE(html.find(words), std::string::npos) << words;
  }
}

// --- Images -----------------------------------------------------------------------------------------------------

std::string decoded(const std::string& base64) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char letter : base64) {
    if (letter == '=') break;
    bits = bits << 6 | static_cast<unsigned>(letters.find(letter)), held += 6;
    if (held >= 8) out += static_cast<char>(bits >> (held -= 8) & 255u);
  }
  return out;
}

TEST(Page, ImagesArePng) {
  for (const Index width : {1, 2, 3, 5}) {  // every remainder of base 64 over the sizes
    page::Image image{width, 2, {}, "", ""};
    for (Index i = 0; i < 2 * width; ++i) image.ink.push_back(static_cast<std::uint8_t>(40 * i));
    const std::string address = png_address(image), head = "data:image/png;base64,";
    ASSERT_EQ(address.substr(0, head.size()), head);
    const std::string png = decoded(address.substr(head.size()));
    ASSERT_EQ(png.substr(1, 3), "PNG");
    std::map<std::string, std::string> chunks;
    for (std::size_t at = 8; at < png.size();) {
      const auto number = [&](std::size_t from) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png[from + i]);
        return value;
      };
      const std::size_t size = number(at);
      const auto* covered = reinterpret_cast<const Bytef*>(png.data() + at + 4);
      EXPECT_EQ(crc32(0, covered, static_cast<uInt>(size + 4)), number(at + 8 + size));
      chunks[png.substr(at + 4, 4)] = png.substr(at + 8, size);
      at += 12 + size;
    }
    ASSERT_TRUE(chunks.contains("IHDR") && chunks.contains("IDAT") && chunks.contains("IEND"));
    EXPECT_EQ(chunks["IHDR"][3], static_cast<char>(width));
    EXPECT_EQ(chunks["IHDR"][7], 2);
    std::string rows(static_cast<std::size_t>(2 * (width + 1)), '\0');
    uLongf size = rows.size();
    ASSERT_EQ(uncompress(reinterpret_cast<Bytef*>(rows.data()), &size,
                         reinterpret_cast<const Bytef*>(chunks["IDAT"].data()), chunks["IDAT"].size()),
              Z_OK);
    for (Index i = 0; i < 2; ++i) {
      for (Index j = 0; j < width; ++j) {
        const auto shade = static_cast<unsigned char>(rows[static_cast<std::size_t>(i * (width + 1) + 1 + j)]);
        EXPECT_EQ(shade, 255 - image.ink[static_cast<std::size_t>(i * width + j)]);
      }
    }
  }
  EXPECT_THROW(page::png_address({2, 2, {1, 2, 3}, "", ""}), Error);
}

TEST(Page, ImageShapesGoAlongRowsOrDownColumns) {
  const ImageShape along = parse_image_shape("2x3"), down = parse_image_shape("2x3T");
  // Features 0..5 of a row-major image of two rows, and of a column-major one.
  std::vector<Index> rows, columns;
  for (Index j = 0; j < 6; ++j) rows.push_back(along.pixel(j)), columns.push_back(down.pixel(j));
  EXPECT_EQ(rows, (std::vector<Index>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(columns, (std::vector<Index>{0, 3, 1, 4, 2, 5}));
  for (const char* wrong : {"", "28", "x", "28x", "x28", "0x4", "4x0", "-1x4", "2x3U", "2x3TT", "2 x 3", "9999999x1",
                            "99999999999999999999x1"}) {
    EXPECT_THROW(parse_image_shape(wrong), Error) << wrong;
  }
}

// --- Charts -----------------------------------------------------------------------------------------------------

TEST(Charts, TheKneeIsFarthestBelowTheChord) {
  // Below the chord 10, 7.5, 5, 2.5, 0 by 0, 4.5, 4, 2, 0.
  EXPECT_EQ(page::knee({10, 3, 1, 0.5, 0}), 1);
  EXPECT_EQ(page::knee({10, 8, 1, 0.5, 0}), 2);
  EXPECT_EQ(page::knee({4, 3, 2, 1, 0}), 0);       // straight
  EXPECT_EQ(page::knee({10, 9.9, 9.8, 5, 0}), 0);  // above it
  EXPECT_EQ(page::knee({5, 1}), 0);
  EXPECT_EQ(page::knee({}), 0);
}

// Also where names begin and end alike; equal ones stay so.
TEST(Charts, LabelsTellNamesApart) {
  const std::string head = "temperature of the sensor ", tail = " in the room at the end";
  const std::vector<std::string> names = {head + "12" + tail, head + "13" + tail, "short", "short", head + "7" + tail};
  for (const std::size_t most : {10u, 18u}) {
    const auto labels = page::distinct_labels(names, most);
    EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), 4u) << labels[0];
    EXPECT_NE(labels[0].find("12"), std::string::npos) << labels[0];
    EXPECT_EQ(labels[2], "short");
    for (const auto& label : labels) EXPECT_LE(character_count(label), most);
  }
  EXPECT_EQ(page::distinct_labels({"abcdefghijkl", "mnopqrstuvwx"}, 8)[0], page::elided("abcdefghijkl", 8));
}

TEST(Charts, NamesAreValuesNeverKeys) {
  const std::string name = "__proto__";
  page::LineChart lines;
  lines.panels = {{name, {{name, {{1, 2}}}, {name, {{1, 3}}}}}, {name, {{name, {{1, 2}}}, {name, {{1, 3}}}}}};
  for (const auto& spec : {page::line_chart(lines), page::bar_chart({"", "", {name, name}, {{name, {{1}, {2}}}}}),
                           page::heat_map({"", "", "", {name, name}, {name}, {{"", {1, 2}}}})}) {
    EXPECT_GT(count(spec, "\"__proto__\""), 1u);
    EXPECT_EQ(count(spec, "\"__proto__\":"), 0u);
    EXPECT_EQ(count(spec, "\"field\": \"__proto__\""), 0u);
  }
}

// Where the mean of shares is near an end, a deviation may lie beyond it; a share may not.
TEST(Charts, BandsOfSharesStayBetweenNoneAndAll) {
  page::LineChart lines;
  lines.panels = {{"", {{"", {{1, 0.95, 0.85, 1.05}, {2, 0.02, -0.06, 0.1}}}}}};
  page::BarChart bars{"", "", {"a"}, {{"", {{0.98, -0.5, 1.5}}}}};
  for (const bool percent : {true, false}) {
    lines.percent = bars.percent = percent;
    const std::string drawn = page::line_chart(lines) + page::bar_chart(bars);
    for (const char* outside : {"\"h\": 1.05", "\"l\": -0.06", "\"h\": 1.5", "\"l\": -0.5"}) {
      EXPECT_EQ(count(drawn, outside), percent ? 0u : 1u) << outside;
    }
    EXPECT_EQ(count(drawn, "\"h\": 1.0}") + count(drawn, "\"h\": 1}"), percent ? 2u : 0u);
    EXPECT_EQ(count(drawn, "\"l\": 0.85"), 1u);
  }
}

TEST(Charts, ColoursOfEachPanelRunFromItsLeastToItsLargest) {
  page::HeatMap map{"", "", "", {"a", "b", "c"}, {"r"}, {{"1", {2, 4, 6}}, {"2", {0.1, 0.1, page::kNone}}}};
  map.own_scales = true;
  const std::string spec = page::heat_map(map);
  for (const char* cell : {"\"v\": 2, \"t\": 0}", "\"v\": 4, \"t\": 0.5}", "\"v\": 6, \"t\": 1}"}) {
    EXPECT_EQ(count(spec, cell), 1u) << cell << spec;
  }
  EXPECT_EQ(count(spec, "\"v\": 0.1, \"t\": 0}"), 2u);  // one value has no range
  map.least_span = 8.0;                                 // 2 to 6 in 0 to 8
  const std::string wider = page::heat_map(map);
  for (const char* cell : {"\"v\": 2, \"t\": 0.25}", "\"v\": 4, \"t\": 0.5}", "\"v\": 6, \"t\": 0.75}"}) {
    EXPECT_EQ(count(wider, cell), 1u) << cell << wider;
  }
}

// "200m" reads like a length.
TEST(Charts, SmallNumbersHaveNoPrefix) {
  const page::ScatterChart scatter{"x", "y", {"a"}, {{0.02, -0.003, 0, 0}, {0.01, 0.004, 0, 1}}};
  const page::SpreadChart spread{"cluster", {"0"}, {"a"}, {{{0.01, 0.02, 0.03, 0.04, 0.05}}}};
  for (const std::string& spec : {page::scatter_chart(scatter), page::spread_chart(spread)}) {
    EXPECT_EQ(spec.find("~s"), std::string::npos);
  }
}

// The labels of markers are drawn after all lines, each first with its halo.
TEST(Charts, LabelsOfMarkersLieOnTop) {
  page::LineChart lines;
  lines.panels = {{"", {{"", {{1, 2}, {10, 1}}}}}};
  lines.markers = {{2, "first"}, {3, "second"}, {9, "third"}};
  const std::string spec = page::line_chart(lines);
  EXPECT_LT(spec.rfind("strokeDash\": [3"), spec.find("\"text\": \"first\""));
  EXPECT_EQ(count(spec, "\"halo\""), 3u);
  EXPECT_LT(spec.rfind("\"halo\""), spec.rfind("\"text\": \"first\""));
  EXPECT_EQ(count(spec, "\"align\": \"left\""), 4u);   // on the right of their lines
  EXPECT_EQ(count(spec, "\"align\": \"right\""), 2u);  // where there is no room for it
}

// Two markers near each other have their labels on either side; a label is not where the curve is, if it can help it.
TEST(Charts, LabelsOfMarkersKeepOffOtherLines) {
  page::LineChart lines;
  lines.panels = {{"", {{"", {{0, 1}, {40, 0.98}, {60, 0.97}, {100, 0.96}}}}}};
  lines.from_zero = true;
  lines.markers = {{50, "one"}, {60, "other"}};
  const std::string spec = page::line_chart(lines);
  EXPECT_EQ(count(spec, "\"align\": \"right\""), 2u);
  EXPECT_LT(spec.find("\"align\": \"right\""), spec.find("\"text\": \"one\""));
  EXPECT_EQ(count(spec, "\"baseline\": \"bottom\""), 4u);  // the curve is at the top
}

TEST(Charts, WhatIsNotFiniteIsNotDrawn) {
  page::LineChart lines;
  lines.panels = {{"", {{"a", {{1, 2}, {2, page::kNone}, {3, INFINITY}, {4, 5, 4, page::kNone}}}}}};
  const std::string spec = page::line_chart(lines);
  EXPECT_NE(spec.find("\"values\": [{\"x\": 1, \"y\": 2, \"s\": 0}, {\"x\": 4, \"y\": 5, \"s\": 0, \"l\": 4}]"),
            std::string::npos);
  EXPECT_EQ(spec.find("null, \"s\""), std::string::npos);
  EXPECT_THROW(page::heat_map({"", "", "", {"a"}, {"b"}, {{"", {1, 2}}}}), Error);
}

// --- Correlations -----------------------------------------------------------------------------------------------

TEST(Correlations, AreThoseOfTheDefinition) {
  Matrix a = support::thinned(support::random_matrix(300, 6, 3), 0.6, 4);
  for (Index i = 0; i < a.rows(); ++i) {
    a(i, 2) = -2.0 * a(i, 0);
    a(i, 5) = 7.0;
    a(i, 1) += a(i, 3);
  }
  Context context;
  for (const Source& source : {support::dense(a), support::sparse(a), support::dense(a, 16)}) {
    const Matrix r = correlations(source, context);
    for (Index p = 0; p < 6; ++p) {
      for (Index q = 0; q < 6; ++q) {
        double mp = 0, mq = 0, spp = 0, sqq = 0, spq = 0;
        for (Index i = 0; i < 300; ++i) mp += a(i, p) / 300, mq += a(i, q) / 300;
        for (Index i = 0; i < 300; ++i) {
          spp += (a(i, p) - mp) * (a(i, p) - mp), sqq += (a(i, q) - mq) * (a(i, q) - mq);
          spq += (a(i, p) - mp) * (a(i, q) - mq);
        }
        const bool constant = p == 5 || q == 5;
        const double expected = p == q ? 1.0 : constant ? 0.0 : spq / std::sqrt(spp * sqq);
        EXPECT_NEAR(r(p, q), expected, 1e-12);
      }
    }
  }
}

// --- The page of a selection ------------------------------------------------------------------------------------

struct Made {
  Table table;
  SelectRequest request;
  SelectResult result;
  Method method = find_method("ufcm");
  Options options;

  SelectionRecord record() const { return {table, method, options, request, result, 7, 2, 0, 99, {"careful"}}; }
};

// Column 3 repeats column 0 with the other sign, column 2 is constant, column 4 is excluded.
Made made() {
  Made one;
  Matrix a = support::random_matrix(40, 5, 9);
  for (Index i = 0; i < a.rows(); ++i) a(i, 3) = -3.0 * a(i, 0), a(i, 2) = 1.0;
  one.table.source = support::dense(a);
  one.table.path = "folder/t.csv";
  one.table.format = "csv";
  one.table.names = {"zero", "one", "two", "three", "four"};
  one.table.excluded_columns = {"sample", "kind", "comment"};
  one.table.labels["kind"] = {};
  one.request.exclude = {4};
  one.result.available = {0, 1, 2, 3};
  one.result.scores = {0.5, 0.7, 0.0, 0.1, std::nan("")};
  one.result.ranking = {1, 0, 3, 2};
  one.result.selected = {1, 0};
  auto& selection = one.result.selection;
  selection.components = Matrix(4, 2);
  selection.components(0, 0) = 0.3, selection.components(0, 1) = -0.4;
  selection.components(1, 0) = 0.7, selection.components(1, 1) = 0.1;
  selection.centers = Matrix(3, 2);
  selection.centers(0, 0) = -5, selection.centers(1, 0) = 1, selection.centers(2, 0) = 2;
  selection.centers(0, 1) = 0, selection.centers(1, 1) = 9, selection.centers(2, 1) = -9;
  for (Index i = 0; i < a.rows(); ++i) selection.clusters.push_back(static_cast<int>(i % 3));
  selection.report.status = Status::converged;
  selection.report.iterations = 2;
  selection.report.objective = {1, 2};
  selection.report.terms = {{"scatter", {3, 4}}};
  return one;
}

TEST(SelectPage, EachFeatureHasItsReason) {
  const Made one = made();
  Context context;
  const Page page = select_page(one.record(), {}, context);
  const auto& table = block_of<page::Table>(page, "Ranking");
  std::vector<std::string> titles;
  for (const auto& column : table.columns) titles.push_back(column.title);
  EXPECT_EQ(titles, (std::vector<std::string>{"rank", "feature", "name", "score", "selected", "why", "by cluster",
                                              "most alike", "r"}));
  ASSERT_EQ(table.rows.size(), 4u);
  EXPECT_EQ(table.rows[0][2].text, "one");
  EXPECT_EQ(table.rows[0][4].text, "yes");
  EXPECT_EQ(table.rows[2][4].text, "");
  EXPECT_EQ(table.rows[1][7].text, "three");
  EXPECT_NEAR(*table.rows[1][8].number, -1.0, 1e-12);
  EXPECT_EQ(table.rows[2][7].text, "zero");
  // Column 0 and its twin of the other sign are high where the other is low.
  const auto reason = [&](std::size_t row) { return table.rows[row][5].text; };
  EXPECT_TRUE(reason(0).starts_with("high in cluster ") || reason(0) == "much the same in every cluster");
  EXPECT_EQ(reason(3), "");  // constant
  EXPECT_EQ(table.rows[1][6].text.size(), 3u);
  const auto& weights = block_of<page::Table>(page, "Ranking", 1);
  EXPECT_TRUE(weights.folded);
  EXPECT_EQ(weights.rows[0][2].text, "component 0 (+0.7): clusters 2 and 0");
  EXPECT_EQ(weights.rows[1][2].text, "component 1 (\u22120.4): clusters 1 and 2");
  EXPECT_EQ(weights.rows[3][2].text, "no weight in any component");
  const std::string html = page_html(page);
  EXPECT_NE(html.find("<details><summary>Weights</summary>"), std::string::npos);
  EXPECT_NE(html.find(concat("<td class=s data-s=\"", table.rows[0][6].text, "\">")), std::string::npos);
}

TEST(SelectPage, SaysWhatWasLeftOutAndWhy) {
  const Made one = made();
  Context context;
  SelectPageOptions options;
  options.id_column = "sample";
  const Page page = select_page(one.record(), options, context);
  const auto& table = block_of<page::Table>(page, "Excluded and constant columns");
  std::map<std::string, std::string> why;
  for (const auto& row : table.rows) why[row[0].text] = row[1].text;
  ASSERT_EQ(why.size(), 5u);
  EXPECT_NE(why["sample"].find("identifiers"), std::string::npos);
  EXPECT_NE(why["kind"].find("labels"), std::string::npos);
  EXPECT_NE(why["comment"].find("text"), std::string::npos);
  EXPECT_NE(why["four"].find("request"), std::string::npos);
  EXPECT_NE(why["two"].find("constant"), std::string::npos);
  EXPECT_TRUE(block_of<page::Note>(page, "Scores").warning);
  EXPECT_EQ(page.title, "Selected features of t.csv");
}

TEST(SelectPage, MethodsWithoutComponentsSayWhatThereIs) {
  Made one = made();
  one.method = find_method("maxvar");
  one.result.selection = {};
  one.result.selection.report.status = Status::direct;
  Context context;
  const Page page = select_page(one.record(), {}, context);
  EXPECT_NE(block_of<page::Text>(page, "Ranking").text.find(one.method.formula), std::string::npos);
  for (const auto& column : block_of<page::Table>(page, "Ranking").columns) EXPECT_NE(column.title, "why");
  EXPECT_FALSE(has_section(page, "Clusters"));
  EXPECT_FALSE(has_section(page, "Image"));
}

TEST(SelectPage, SelectedFeaturesAreThePixelsOfTheImage) {
  Made one = made();
  Context context;
  SelectPageOptions options;
  options.image = parse_image_shape("1x5");
  require_image(*options.image, one.table);
  const Page page = select_page(one.record(), options, context);
  const auto& images = block_of<page::Images>(page, "Image");
  EXPECT_EQ(images.images[0].marked, (std::vector<char>{1, 1, 0, 0, 0}));
  ASSERT_EQ(images.values.size(), 5u);
  EXPECT_EQ(images.values[1], 0.7);
  const auto& means = block_of<page::Images>(page, "Image", 1);
  ASSERT_EQ(means.images.size(), 3u);
  EXPECT_EQ(means.images[0].label, "cluster 0, 14 rows");
  EXPECT_EQ(images.images[1].ink[1], 255);
  EXPECT_EQ(images.images[1].ink[2], 0);
  EXPECT_FALSE(images.images[0].alt.empty());
  EXPECT_THROW(require_image(parse_image_shape("2x2"), one.table), Error);
}

TEST(SelectPage, OneFeatureMakesAPage) {
  Made one = made();
  one.table.source = support::dense(support::random_matrix(10, 1, 1));
  one.table.names = {""};
  one.request.exclude = {};
  one.result = {};
  one.result.available = one.result.ranking = one.result.selected = {0};
  one.result.scores = {1.0};
  Context context;
  const Page page = select_page(one.record(), {}, context);
  EXPECT_EQ(block_of<page::Table>(page, "Ranking").rows[0][2].text, "(empty name)");
  EXPECT_FALSE(has_section(page, "Redundancy"));
  EXPECT_GT(page_html(page).size(), 700000u);
}

TEST(SelectPage, LongRankingsShowTheBestAndSaySo) {
  Made one = made();
  const Index d = 2500;
  one.table.source = support::dense(support::random_matrix(8, d, 1));
  one.table.names.clear();
  one.request.exclude = {};
  one.result = {};
  for (Index j = 0; j < d; ++j) {
    one.result.available.push_back(j), one.result.ranking.push_back(j);
    one.result.scores.push_back(1.0 / static_cast<double>(j + 1));
  }
  one.result.selected = one.result.ranking;
  Context context;
  const Page page = select_page(one.record(), {}, context);
  const auto& table = block_of<page::Table>(page, "Ranking");
  EXPECT_EQ(table.rows.size(), 2000u);
  EXPECT_NE(table.caption.find("2000 of 2500"), std::string::npos);
  EXPECT_LT(page_html(page).size(), 1'500'000u);
}

TEST(SelectPage, RedundantFeaturesStandBesideEachOther) {
  Made one = made();
  one.result.redundancy.emplace().groups = {{0, 3}};
  Context context;
  const Page page = select_page(one.record(), {}, context);
  const auto& figure = block_of<page::Figure>(page, "Redundancy");
  const auto place = [&](const char* name) { return figure.spec.find(name, figure.spec.find("\"rows\"")); };
  EXPECT_LT(place("\"zero\""), place("\"three\""));
  EXPECT_LT(place("\"three\""), place("\"one\""));  // of a better rank, but in no group
  EXPECT_NE(figure.spec.find("{\"a\": 0, \"b\": 1}"), std::string::npos);
  EXPECT_EQ(block_of<page::Table>(page, "Redundancy").rows[0][1].text, "zero");
  one.result.redundancy.reset();
  const Page plain = select_page(one.record(), {}, context);
  EXPECT_EQ(block_of<page::Figure>(plain, "Redundancy").spec.find("\"a\": 0"), std::string::npos);
}

// --- The page of a comparison -----------------------------------------------------------------------------------

TEST(ComparePage, HighlightsTheBestAndKeepsFailures) {
  Table table;
  table.source = support::dense(support::mixture(90, 12, 3, 4, 3.0, 2));
  table.path = "x.npy";
  CompareRequest request;
  request.methods = {find_method("maxvar"), find_method("lapscore"), find_method("mcfs")};
  request.settings["lapscore"]["neighbors"] = "89";
  request.sizes = {2, 5};
  request.clusters = 3;
  request.repeats = 2;
  request.subsets = 3;
  for (Index i = 0; i < 90; ++i) request.classes.push_back(static_cast<int>(i % 3));
  Context context;
  Comparison comparison = compare_methods(table.source, request, context);
  comparison.methods[2].failure = Failure{ErrorCode::resources, "too <large>"};
  comparison.methods[0].sizes[0].score.accuracy.mean = 0.9;
  comparison.methods[1].sizes[0].score.accuracy.mean = 0.8;
  const Page page = compare_page({table, request, comparison, "y", 0, 1, {}});
  const auto& scores = block_of<page::Table>(page, "Agreement with the classes");
  ASSERT_EQ(scores.rows.size(), 2u * 3u + 1u);  // two methods and random at two sizes, all features
  EXPECT_TRUE(scores.rows[0][2].best);
  EXPECT_FALSE(scores.rows[1][2].best);
  EXPECT_FALSE(scores.rows[2][2].best);
  EXPECT_EQ(scores.rows[2][1].text, "random");
  EXPECT_EQ(scores.rows.back()[1].text, "all features");
  const auto& costs = block_of<page::Table>(page, "Time and memory");
  EXPECT_EQ(costs.rows[2][3].text, "failed: too <large>");
  EXPECT_TRUE(has_section(page, "Overlap"));
  EXPECT_FALSE(has_section(page, "Grid"));
  EXPECT_NE(page_html(page).find("failed: too &lt;large&gt;"), std::string::npos);

  for (auto& row : comparison.methods) row.failure = Failure{ErrorCode::resources, "no"};
  const Page empty = compare_page({table, request, comparison, "y", 0, 1, {}});
  EXPECT_TRUE(block_of<page::Note>(empty, "Agreement with the classes").warning);
}

}  // namespace
}  // namespace tamis
