#include "tamis/paper/reproduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tamis/data/passes/passes.h"
#include "tamis/paper/reproduce_page.h"
#include "tamis/paper/reproduce_report.h"
#include "tamis/report/json_reader.h"
#include "tests/support/tables.h"

namespace tamis {
namespace {

ExperimentSet small_set(const std::string& name, Index rows = 60, Index cols = 10) {
  Matrix x = support::random_matrix(rows, cols, 3);
  ExperimentSet set;
  for (Index i = 0; i < rows; ++i) {
    set.classes.push_back(static_cast<int>(i % 3));
    for (Index j = 0; j < std::min<Index>(3, cols); ++j) x(i, j) += 6.0 * static_cast<double>((i + j) % 3);
  }
  const auto owned = std::make_shared<const Matrix>(std::move(x));
  set.name = name;
  set.source = Source(make_dense_store({owned->data(), DType::f64, rows, cols, cols, 1}, owned));
  set.class_count = 3;
  set.sha256 = std::string(64, 'a');
  return set;
}

Protocol small_protocol() {
  Protocol protocol = full_protocol();
  protocol.shares = {0.2, 0.5};
  protocol.repeats = 2;
  protocol.subsets = 4;
  protocol.axes = {{"ufcm", "alpha", {"0.1", "10"}}, {"ufcm", "beta", {"0.1"}}, {"ufcm", "p", {"1"}}};
  protocol.figure2 = {"0", "1"};
  return protocol;
}

// --- The plan -----------------------------------------------------------------------------------------------------

TEST(ReproducePlan, OneCellForEachSettingOfEachMethod) {
  const ExperimentSet set = small_set("a");
  std::map<std::string, int> count;
  std::set<std::string> ids;
  for (const auto& cell : plan_cells(set, full_protocol(), paper_methods(), false, 0)) {
    ++count[cell.key.method];
    ids.insert(cell.id);
    EXPECT_EQ(cell.key.clusters, 3);
    const Settings& options = cell.key.options;
    EXPECT_TRUE(!options.contains("clusters") || options.at("clusters") == "3");
    EXPECT_TRUE(!options.contains("neighbors") || options.at("neighbors") == "5");
  }
  // Grid, defaults, and for UFCM Figure 2; SPEC's defaults are one of its three functions. Of ten columns 5 % and
  // 10 % are one.
  const std::map<std::string, int> expected = {{"allfea", 1}, {"random", 6},   {"ufcm", 57},
                                               {"ndfs", 17},  {"rufs", 17},    {"spec", 3},
                                               {"mcfs", 1},   {"lapscore", 1}, {"maxvar", 1}};
  EXPECT_EQ(count, expected);
  int all = 0;
  for (const auto& [method, cells] : count) all += cells;
  EXPECT_EQ(static_cast<int>(ids.size()), all);
}

TEST(ReproducePlan, TheKeyTellsEverythingApart) {
  const auto ids = [](const ExperimentSet& set, const Protocol& protocol, std::uint64_t seed) {
    std::set<std::string> found;
    for (const auto& cell : plan_cells(set, protocol, {find_method("ufcm")}, false, seed)) found.insert(cell.id);
    return found;
  };
  const ExperimentSet set = small_set("a");
  const auto base = ids(set, small_protocol(), 0);
  EXPECT_EQ(base, ids(set, small_protocol(), 0));
  const auto apart = [&](const std::set<std::string>& others) {
    for (const auto& id : others) {
      if (base.contains(id)) return false;
    }
    return true;
  };
  EXPECT_TRUE(apart(ids(set, small_protocol(), 1)));
  EXPECT_TRUE(apart(ids(small_set("b"), small_protocol(), 0)));
  ExperimentSet other = set;
  other.sha256[0] = 'b';
  EXPECT_TRUE(apart(ids(other, small_protocol(), 0)));
  Protocol more = small_protocol();
  more.repeats = 3;
  EXPECT_TRUE(apart(ids(set, more, 0)));
  // JSON spells both names alike.
  EXPECT_NE(ids(small_set("\xff"), small_protocol(), 0), ids(small_set("\xfe"), small_protocol(), 0));
}

// --- The files ----------------------------------------------------------------------------------------------------

std::string outcome_of(const Cell& cell) {
  Json json;
  json.begin_object();
  write_cell(json, cell);
  return json.end_object().text();
}

std::vector<Cell> computed(const ExperimentSet& set, const Protocol& protocol, const std::vector<Method>& methods) {
  Context context(1, 0);
  std::vector<Cell> cells;
  for (const auto& plan : plan_cells(set, protocol, methods, false, 0))
    cells.push_back(compute_cell(set, plan, context));
  return cells;
}

TEST(ReproduceFiles, ReadBackAsTheyWere) {
  const ExperimentSet set = small_set("a");
  for (const Cell& cell : computed(set, small_protocol(), paper_methods())) {
    ASSERT_FALSE(cell.failure) << cell.plan.key.method << ": " << cell.failure->reason.text();
    const std::string file = cell_file_text(cell);
    EXPECT_NO_THROW(parse_json(file, "cell"));
    const auto back = parse_cell_file(file, cell.plan, 10);
    ASSERT_TRUE(back) << file;
    EXPECT_EQ(outcome_of(*back), outcome_of(cell));
    EXPECT_EQ(cell_file_text(*back), file);
    for (std::size_t s = 0; s < cell.scores.size(); ++s) {
      EXPECT_EQ(back->scores[s].accuracy.mean, cell.scores[s].accuracy.mean);
      EXPECT_EQ(back->scores[s].nmi.sd, cell.scores[s].nmi.sd);
    }
  }
}

TEST(ReproduceFiles, DamagedOrForeignOnesAreNotTaken) {
  const auto cells = computed(small_set("a"), small_protocol(), {find_method("maxvar")});
  const std::string file = cell_file_text(cells.back());
  ASSERT_TRUE(parse_cell_file(file, cells.back().plan, 10));
  EXPECT_FALSE(parse_cell_file(file, cells.front().plan, 10));  // another cell's
  EXPECT_FALSE(parse_cell_file(file, cells.back().plan, 11));   // of another table
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    EXPECT_FALSE(parse_cell_file(damaged, cells.back().plan, 10)) << at;
    EXPECT_FALSE(parse_cell_file(std::string_view(file).substr(0, at), cells.back().plan, 10)) << at;
  }
}

SubsetScore scored(Index features, std::vector<double> accuracy) {
  SubsetScore score;
  score.features = features;
  for (const double one : accuracy) score.starts.push_back({one, one / 2.0, 0.0});
  summarize_starts(score);
  return score;
}

// --- Guided, beside the paper -------------------------------------------------------------------------------------

std::vector<PlannedCell> guided_plans(const ExperimentSet& set) {
  std::vector<PlannedCell> plans = plan_cells(set, small_protocol(), {find_method("maxvar")}, true, 0);
  std::erase_if(plans, [](const PlannedCell& plan) { return !plan.own_size; });
  return plans;
}

TEST(ReproduceGuided, ChoosesItsNumberOfColumnsWithoutAndWithTheClasses) {
  const ExperimentSet set = small_set("a", 90, 70);
  const auto plans = guided_plans(set);
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].key.options.at("clusters"), "several scales");
  EXPECT_EQ(plans[1].key.options.at("clusters"), "3");
  for (const auto& plan : plans) {
    Context context(1, 0);
    const Cell cell = compute_cell(set, plan, context);
    ASSERT_FALSE(cell.failure) << cell.failure->reason.text();
    ASSERT_EQ(cell.scores.size(), 1u);
    ASSERT_GE(cell.scores[0].features, 1);
    ASSERT_LE(cell.scores[0].features, 70);  // all of them where it finds no few that would do
    std::vector<Index> first(cell.ranking.begin(), cell.ranking.begin() + cell.scores[0].features);
    std::sort(first.begin(), first.end());
    EvaluateOptions options;
    options.clusters = 3;
    options.repeats = 2;
    EXPECT_EQ(cell.scores[0].accuracy.mean,
              score_subset(set.source, set.classes, first, options, 1, context).accuracy.mean);
    const auto back = parse_cell_file(cell_file_text(cell), plan, 70);
    ASSERT_TRUE(back);
    EXPECT_EQ(outcome_of(*back), outcome_of(cell));
    Cell wrong = cell;
    wrong.scores[0].features = 71;
    EXPECT_FALSE(parse_cell_file(cell_file_text(wrong), plan, 70));
  }
}

TEST(ReproduceGuided, StandsBesideTheLabelBestOfEveryMethod) {
  Reproduction result;
  result.protocol = small_protocol();
  result.methods = {find_method("maxvar")};
  result.sets = {small_set("a"), small_set("b")};
  EXPECT_TRUE(guided_rows(result, Measure::accuracy).empty());
  for (const auto& set : result.sets) {
    for (const auto& plan : plan_cells(set, result.protocol, result.methods, true, 0)) {
      Cell& cell = result.cells.emplace_back();
      cell.plan = plan;
      if (plan.own_size) cell.scores = {scored(7, {plan.settings.empty() ? 0.5 : 0.6, 0.7})};
      if (plan.key.method == "maxvar") cell.scores = {scored(2, {0.3, 0.3}), scored(5, {0.8, 0.9})};
      if (plan.key.method == "allfea") cell.scores = {scored(10, {0.1, 0.2})};
      if (plan.key.method == "random") cell.scores = {scored(plan.key.sizes[0], {0.2, 0.2})};
    }
  }
  const auto rows = guided_rows(result, Measure::accuracy);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1].set, "b");
  EXPECT_DOUBLE_EQ(rows[1].unknown->value.mean, 0.6);
  EXPECT_EQ(rows[1].unknown->features, 7);
  EXPECT_DOUBLE_EQ(rows[1].given->value.mean, 0.65);
  EXPECT_DOUBLE_EQ(rows[1].all->value.mean, 0.15);
  ASSERT_EQ(rows[1].label_best.size(), 1u);
  EXPECT_DOUBLE_EQ(rows[1].label_best[0]->value.mean, 0.85);
  EXPECT_EQ(table_of(result, Measure::accuracy).size(), 2u);  // it is no row of the paper's tables
}

// --- Table arithmetic, on cells made by hand ----------------------------------------------------------------------

// Sizes 2 and 5 of 10 features; two settings in UFCM's grid, its defaults, and two runs of Figure 2.
Reproduction by_hand() {
  Reproduction result;
  result.protocol = small_protocol();
  result.methods = {find_method("ufcm"), find_method("maxvar")};
  result.sets = {small_set("coil20")};
  for (const auto& plan : plan_cells(result.sets[0], result.protocol, result.methods, false, 0)) {
    Cell cell;
    cell.plan = plan;
    const Settings& settings = plan.settings;
    const auto is = [&](const char* option, const char* value) {
      return settings.contains(option) && settings.at(option) == value;
    };
    if (plan.key.method == "allfea") cell.scores = {scored(10, {0.5, 0.6})};
    if (plan.key.method == "random") {
      for (const double one : {0.4, 0.5, 0.7, 0.8}) cell.scores.push_back(scored(plan.key.sizes[0], {one, one}));
    }
    if (plan.key.method == "maxvar") cell.scores = {scored(2, {0.3, 0.3}), scored(5, {0.4, 0.6})};
    if (plan.key.method == "ufcm") {
      cell.scores = {scored(2, {0.1, 0.1}), scored(5, {0.2, 0.2})};  // Figure 2
      if (is("alpha", "0.1")) cell.scores = {scored(2, {0.6, 0.8}), scored(5, {0.9, 0.7})};
      if (is("alpha", "10")) cell.scores = {scored(2, {0.2, 0.2}), scored(5, {0.8, 0.8})};
      if (plan.label_free) cell.scores = {scored(2, {0.9, 0.9}), scored(5, {0.6, 0.7})};
      cell.objective = {1.0, 2.0, 2.0};
      cell.ranking = {9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    }
    result.cells.push_back(std::move(cell));
  }
  return result;
}

TEST(ReproduceTables, BestMedianWorst) {
  const Reproduction result = by_hand();
  const auto rows = table_of(result, Measure::accuracy);
  ASSERT_EQ(rows.size(), 2u);
  const TableRow& row = rows[0];
  // Means of the grid: 0.7, 0.8, 0.2, 0.8. The first of the equal ones counts; neither defaults nor figures do.
  EXPECT_EQ(row.evaluations, 4);
  EXPECT_DOUBLE_EQ(row.best->value.mean, 0.8);
  EXPECT_EQ(row.best->features, 5);
  EXPECT_EQ(row.best->cell->plan.settings.at("alpha"), "0.1");
  EXPECT_NEAR(row.best->value.sd, std::sqrt(0.02), 1e-12);
  EXPECT_DOUBLE_EQ(row.median, 0.75);
  EXPECT_DOUBLE_EQ(row.worst, 0.2);
  EXPECT_EQ(rows[1].evaluations, 2);
  EXPECT_DOUBLE_EQ(rows[1].best->value.mean, 0.5);
}

TEST(ReproduceTables, LabelFreeIsTheDefaultsAtTheChosenSize) {
  const Reproduction result = by_hand();
  const TableRow row = table_of(result, Measure::accuracy)[0];
  ASSERT_EQ(row.label_free.size(), 2u);
  EXPECT_EQ(row.chosen->features, 5);
  EXPECT_DOUBLE_EQ(row.chosen->value.mean, 0.65);
  EXPECT_DOUBLE_EQ(row.label_free[0].value.mean, 0.9);  // better, but who would know
}

TEST(ReproduceTables, RandomBand) {
  const Reproduction result = by_hand();
  const TableRow row = table_of(result, Measure::accuracy)[0];
  EXPECT_DOUBLE_EQ(row.best_random->value.mean, 0.6);
  EXPECT_DOUBLE_EQ(row.best_random->min, 0.4);
  EXPECT_DOUBLE_EQ(row.best_random->max, 0.8);
  EXPECT_DOUBLE_EQ(row.best_random->p, 2.0 / 5.0);  // 0.8 is as good
  EXPECT_FALSE(row.best_random->beats_random);
  EXPECT_DOUBLE_EQ(row.chosen_random->p, 3.0 / 5.0);
  EXPECT_EQ(row.best_random->subsets, 4);
}

TEST(ReproduceTables, GainsAndTheirErrors) {
  const Reproduction result = by_hand();
  const TableRow row = table_of(result, Measure::accuracy)[0];
  EXPECT_NEAR(*row.gain, 0.8 - 0.55, 1e-12);
  EXPECT_NEAR(*row.gain_error, std::sqrt((0.02 + 0.005) / 2.0), 1e-12);
  EXPECT_NEAR(*row.chosen_gain, 0.1, 1e-12);
  EXPECT_NEAR(*row.paper_gain, 0.7475 - 0.7051, 1e-12);
  EXPECT_DOUBLE_EQ(row.max_variance->value.mean, 0.5);  // at the best's size
  const TableRow nmi = table_of(result, Measure::nmi)[0];
  EXPECT_DOUBLE_EQ(nmi.best->value.mean, 0.4);
  EXPECT_EQ(nmi.paper->mean, 0.8119);
}

TEST(ReproduceTables, BeatsRandomOnlyWhereNoneOfTwentyIsAsGood) {
  Reproduction result = by_hand();
  for (auto& cell : result.cells) {
    if (cell.plan.key.method != "random") continue;
    cell.scores.assign(20, scored(cell.plan.key.sizes[0], {0.1, 0.1}));
  }
  EXPECT_TRUE(table_of(result, Measure::accuracy)[0].best_random->beats_random);
  for (auto& cell : result.cells) {
    if (cell.plan.key.method == "random") cell.scores[7] = scored(cell.plan.key.sizes[0], {0.8, 0.8});
  }
  EXPECT_FALSE(table_of(result, Measure::accuracy)[0].best_random->beats_random);
}

TEST(ReproduceTables, WhatFailedIsLeftOut) {
  Reproduction result = by_hand();
  for (auto& cell : result.cells) {
    if (cell.plan.grid && cell.plan.settings.contains("alpha") && cell.plan.settings.at("alpha") == "0.1") {
      cell.failure = Failure{ErrorCode::resources, "too much"};
    }
  }
  EXPECT_EQ(table_of(result, Measure::accuracy)[0].evaluations, 2);
  for (auto& cell : result.cells) cell.failure = Failure{ErrorCode::resources, "too much"};
  const auto rows = table_of(result, Measure::accuracy);
  EXPECT_FALSE(rows[0].best || rows[0].chosen || rows[0].all || rows[0].gain);
  EXPECT_NO_THROW(parse_json(report_json(result, {}), "report"));
}

TEST(ReproduceTables, Figures) {
  const Reproduction result = by_hand();
  const Figures figures = figures_of(result).at(0);
  ASSERT_EQ(figures.sizes.size(), 2u);
  EXPECT_DOUBLE_EQ(figures.sizes[0].best->value.mean, 0.7);
  EXPECT_DOUBLE_EQ(figures.sizes[0].label_free->value.mean, 0.9);
  ASSERT_EQ(figures.beta.size(), 2u);
  EXPECT_EQ(figures.beta[0].settings.at("beta"), "0");
  EXPECT_DOUBLE_EQ(figures.beta[0].best->value.mean, 0.2);
  EXPECT_EQ(figures.alpha_p.size(), 2u);
  EXPECT_EQ(figures.beta_p.size(), 1u);
  EXPECT_EQ(figures.convergence->cell->plan.settings.at("beta"), "1");
  EXPECT_TRUE(figures.convergence->monotone);
}

TEST(ReproduceTables, NeverFalls) {
  EXPECT_TRUE(never_falls({}));
  EXPECT_TRUE(never_falls({-5.0, -4.0, -4.0, 1.0}));
  EXPECT_TRUE(never_falls({1e6, 1e6 - 1e-6}));
  EXPECT_FALSE(never_falls({1.0, 2.0, 1.999}));
  EXPECT_FALSE(never_falls({1.0, std::nan("")}));
}

TEST(ReproduceTables, DocumentsAreJsonAndOneSeedIsOneText) {
  Reproduction result = by_hand();
  const JsonValue report = parse_json(report_json(result, {"a cpu", 2, 1024, "x"}), "report");
  EXPECT_EQ(report.at("tables").at("acc").at("rows").array().size(), 2u);
  EXPECT_EQ(report.at("cells").array().size(), result.cells.size());
  EXPECT_EQ(report.at("machine").at("processor").string(), "a cpu");
  const auto selected = report.at("tables").at("acc").at("rows").array()[0].at("label_best_selected").indices();
  EXPECT_EQ(selected, (std::vector<Index>{9, 8, 7, 6, 5}));
  const std::string cells = cells_json(result);
  for (auto& cell : result.cells) cell.seconds = cell.cpu_seconds = 1.5;
  result.threads = 7;
  result.found = 3;
  result.seconds = 9.0;
  EXPECT_EQ(cells_json(result), cells);
}

// --- The page -----------------------------------------------------------------------------------------------------

const Machine kMachine = {"a cpu", 2, 1024, "x"};

const page::Section* section_of(const page::Page& page, const std::string& title) {
  for (const auto& section : page.sections) {
    if (section.title == title) return &section;
  }
  return nullptr;
}

std::vector<std::string> notes_of(const page::Page& page) {
  std::vector<std::string> notes;
  for (const auto& block : page.sections.at(0).blocks) {
    if (const auto* note = std::get_if<page::Note>(&block)) notes.push_back(note->text);
  }
  return notes;
}

TEST(ReproducePage, SaysWhereTheMethodGainsAndWhereRandomIsAsGood) {
  Reproduction result = by_hand();
  // Gains 0.25 +- 0.11 and 0.1 +- 0.07; of the four random subsets one and two are as good.
  const auto words = reproduce_page(result, kMachine).verdict;
  ASSERT_EQ(words.size(), 2u);
  EXPECT_EQ(words, reproduce_verdict(result));
  EXPECT_EQ(words[0],
            "With its best settings in hindsight (label-best), ufcm improves ACC over all features by more than two "
            "standard errors. It does not beat random subsets of the same size.");
  EXPECT_EQ(
      words[1],
      "With its defaults (label-free), ufcm improves ACC over all features, but by less than two standard errors. "
      "It does not beat random subsets of the same size.");
  for (auto& cell : result.cells) {
    if (cell.plan.key.method == "allfea") cell.scores = {scored(10, {0.8, 0.8})};
    if (cell.plan.key.method == "random") cell.scores.assign(20, scored(cell.plan.key.sizes[0], {0.1, 0.1}));
  }
  const auto others = reproduce_verdict(result);
  EXPECT_NE(others.at(0).find("does not improve ACC over all features."), std::string::npos);  // equal is no gain
  EXPECT_NE(others.at(0).find("It beats random subsets of the same size."), std::string::npos);
}

TEST(ReproducePage, QuickRunsAndFailuresAreSaidFirst) {
  Reproduction result = by_hand();
  result.protocol.quick = true;
  result.cells.back().failure = Failure{ErrorCode::resources, "too much"};
  const auto notes = notes_of(reproduce_page(result, kMachine));
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_NE(notes[0].find("quick protocol"), std::string::npos);
  EXPECT_NE(notes[1].find("coil20, maxvar (defaults): too much"), std::string::npos);
}

TEST(ReproducePage, WithoutTheMethodThereIsNoVerdict) {
  Reproduction result = by_hand();
  result.methods = {find_method("maxvar")};
  std::erase_if(result.cells, [](const Cell& cell) { return cell.plan.key.method == "ufcm"; });
  const page::Page page = reproduce_page(result, kMachine);
  EXPECT_NE(page.verdict.at(0).find("not among the methods"), std::string::npos);
  EXPECT_EQ(section_of(page, "Figures"), nullptr);
  EXPECT_NE(section_of(page, "ACC"), nullptr);
  EXPECT_FALSE(page::page_html(page).empty());
}

TEST(ReproducePage, PixelsStandWhereTheSetHasThem) {
  // Five rows of two pixels, stored down the columns: features 5 to 9 are the right column.
  ExpectedSet expected = *find_expected_set("coil20");
  expected.image_rows = 5, expected.image_columns = 2, expected.column_major = true;
  Reproduction result = by_hand();
  EXPECT_EQ(section_of(reproduce_page(result, kMachine), "Pixels"), nullptr);
  result.sets[0].expected = &expected;
  const page::Page page = reproduce_page(result, kMachine);
  const auto* section = section_of(page, "Pixels");
  ASSERT_NE(section, nullptr);
  const auto& images = std::get<page::Images>(section->blocks.at(1)).images;
  ASSERT_EQ(images.size(), 2u);  // label-best and label-free; these cells of maxvar have no ranking
  std::vector<bool> right;
  for (const auto ink : images[0].ink) right.push_back(ink > 0);
  EXPECT_EQ(right, (std::vector<bool>{false, true, false, true, false, true, false, true, false, true}));
  EXPECT_EQ(images[0].ink[9], 255);  // feature 9, the first of the ranking, is the last row's
  EXPECT_LT(images[0].ink[1], images[0].ink[3]);
}

// --- Running ------------------------------------------------------------------------------------------------------

TEST(Reproduce, SampledDownKeepsRowsAndClassesTogether) {
  const ExperimentSet set = small_set("a", 90);
  Context context(1, 0);
  const ExperimentSet smaller = sampled_down(set, 30, context);
  EXPECT_EQ(smaller.source.rows(), 30);
  ASSERT_EQ(smaller.classes.size(), 30u);
  const auto rows = sample_rows(90, 30, 0);
  const Matrix all = gather(set.source, context), part = gather(smaller.source, context);
  for (Index i = 0; i < 30; ++i) {
    const Index row = rows[static_cast<std::size_t>(i)];
    EXPECT_EQ(smaller.classes[static_cast<std::size_t>(i)], set.classes[static_cast<std::size_t>(row)]);
    for (Index j = 0; j < 10; ++j) EXPECT_EQ(part(i, j), all(row, j));
  }
  EXPECT_EQ(sampled_down(set, 0, context).source.rows(), 90);
  EXPECT_EQ(sampled_down(set, 90, context).source.rows(), 90);
}

// The measuring is that of evaluate: the same starts on the same columns.
TEST(Reproduce, ACellIsARankingAndWhatItsFirstColumnsGive) {
  const ExperimentSet set = small_set("a");
  const Cell cell = computed(set, small_protocol(), {find_method("maxvar")}).back();
  ASSERT_EQ(cell.scores.size(), 2u);
  std::vector<Index> first(cell.ranking.begin(), cell.ranking.begin() + 5);
  std::sort(first.begin(), first.end());
  EvaluateOptions options;
  options.clusters = 3;
  options.repeats = 2;
  Context context(1, 0);
  const SubsetScore score = score_subset(set.source, set.classes, first, options, 1, context);
  EXPECT_EQ(cell.scores[1].features, 5);
  ASSERT_EQ(cell.scores[1].starts.size(), 2u);
  EXPECT_EQ(cell.scores[1].starts[1].accuracy, score.starts[1].accuracy);
  EXPECT_EQ(cell.scores[1].redundancy, score.redundancy);
}

TEST(Reproduce, OneMethodsTroubleIsItsOwn) {
  ExperimentSet set = small_set("a", 60, 2);
  PlannedCell plan = plan_cells(set, small_protocol(), {find_method("ufcm")}, false, 0).back();
  plan.settings["dims"] = "50";  // more than there are columns
  Context context(1, 0);
  const Cell cell = compute_cell(set, plan, context);
  ASSERT_TRUE(cell.failure);
  EXPECT_NE(outcome_of(cell).find("error"), std::string::npos);
}

}  // namespace
}  // namespace tamis
