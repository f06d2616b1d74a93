#include "app/scores.h"

#include "app/terminal.h"
#include "tamis/base/error.h"

namespace tamis::app {

namespace {

std::string redundancy_text(const std::optional<double>& value) { return value ? fixed_number(*value, 3) : "-"; }

void write_mean(Json& json, const char* name, const MeanSd& value) {
  json.key(name).begin_object().member("mean", value.mean).member("sd", value.sd).end_object();
}

void add_line(TextTable& table, const std::string& name, const SubsetScore& score) {
  table.add({name, std::to_string(score.features), plus_minus(score.accuracy.mean, score.accuracy.sd),
             score.best ? short_number(score.best->accuracy, 3) : "", plus_minus(score.nmi.mean, score.nmi.sd),
             plus_minus(score.rand.mean, score.rand.sd), redundancy_text(score.redundancy)});
}

void write_best(Json& json, const std::optional<StartScore>& best) {
  if (!best) return;
  json.key("best").begin_object().member("accuracy", best->accuracy).member("nmi", best->nmi);
  json.member("adjusted_rand", best->rand).end_object();
}

void write_band(Json& json, const char* name, const MeanSd& value, double p) {
  json.key(name).begin_object().member("mean", value.mean).member("sd", value.sd).member("p", p).end_object();
}

void write_redundancy(Json& json, const std::optional<double>& value) { json.member("redundancy", value); }

void write_score(Json& json, const char* name, const SubsetScore& score) {
  json.key(name).begin_object();
  write_measures(json, score);
  json.end_object();
}

}  // namespace

void write_measures(Json& json, const SubsetScore& score, bool classes_known) {
  json.member("features", score.features);
  if (classes_known) {
    write_mean(json, "accuracy", score.accuracy);
    write_mean(json, "nmi", score.nmi);
    write_mean(json, "adjusted_rand", score.rand);
    write_best(json, score.best);
  }
  write_redundancy(json, score.redundancy);
}

std::string scores_table(const Evaluation& evaluation) {
  using enum TextTable::Align;
  TextTable table({left, right, left, right, left, left, right});
  table.add({"features", "size", "ACC", "best", "NMI", "ARI", "|r|"});
  add_line(table, "chosen", evaluation.given);
  if (evaluation.all) add_line(table, "all", *evaluation.all);
  add_line(table, "by variance", evaluation.max_variance);
  const RandomBand& band = evaluation.random;
  add_line(table, "random", band);
  table.add({"p (random)", "", short_number(band.accuracy_p, 3), "", short_number(band.nmi_p, 3),
             short_number(band.rand_p, 3)});
  return table.to_text();
}

void write_scores(Json& json, const Evaluation& evaluation, Index subsets) {
  json.key("scores").begin_object();
  write_score(json, "given", evaluation.given);
  if (evaluation.all) {
    write_score(json, "all", *evaluation.all);
  } else {
    json.key("all").null();
  }
  write_score(json, "max_variance", evaluation.max_variance);
  const RandomBand& band = evaluation.random;
  json.key("random").begin_object().member("subsets", subsets).member("features", evaluation.given.features);
  write_band(json, "accuracy", band.accuracy, band.accuracy_p);
  write_band(json, "nmi", band.nmi, band.nmi_p);
  write_band(json, "adjusted_rand", band.rand, band.rand_p);
  write_redundancy(json, band.redundancy);
  json.end_object().end_object();
}

}  // namespace tamis::app
