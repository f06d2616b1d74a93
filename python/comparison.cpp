#include "python/comparison.h"

#include <nanobind/stl/string.h>

#include "python/methods.h"
#include "python/run.h"
#include "python/spelling.h"
#include "tamis/report/verdict.h"
#include "tamis/run/compare.h"

namespace tamis::python {

namespace {

nb::tuple pair_of(const MeanSd& value) { return nb::make_tuple(value.mean, value.sd); }

nb::dict dict_of(const SubsetScore& score, bool classes_known) {
  nb::dict out;
  out["features"] = score.features;
  if (classes_known) {
    out["accuracy"] = pair_of(score.accuracy);
    out["nmi"] = pair_of(score.nmi);
    out["adjusted_rand"] = pair_of(score.rand);
    if (score.best) out["best"] = nb::make_tuple(score.best->accuracy, score.best->nmi, score.best->rand);
  }
  out["redundancy"] = score.redundancy ? nb::cast(*score.redundancy) : nb::none();
  return out;
}

// What every run of a method says of itself.
nb::dict run_dict(double seconds, Status status, const std::optional<Failure>& failure, const Speller& speller) {
  nb::dict out;
  out["seconds"] = failure ? nb::none() : nb::cast(seconds);
  out["status"] = failure ? "failed" : name_of(status);
  out["error"] = failure ? to_text(failure->reason.spelled(speller)) : nb::none();
  return out;
}

nb::list grid_of(const ComparedMethod& row, const Speller& speller) {
  nb::list out;
  for (const auto& run : row.grid) {
    nb::dict one = run_dict(run.seconds, run.status, run.failure, speller);
    nb::list sizes;
    for (const auto& score : run.sizes) sizes.append(dict_of(score, true));
    one["options"] = values_of(find_method(row.name), run.settings);
    one["sizes"] = sizes;
    out.append(one);
  }
  return out;
}

// Of ACC, from the best method of the size at that position: mean, low, high, and whether it is clear.
nb::object against_best(const ComparedSize& size, const Comparison& comparison, std::size_t position) {
  const SubsetScore& best = best_method(comparison, position)->sizes[position].score;
  const auto difference = paired_difference(size.score, best, &StartScore::accuracy);
  if (!difference) return nb::none();
  return nb::make_tuple(difference->mean, difference->low, difference->high, difference->is_clear());
}

nb::dict dict_of(const ComparedMethod& row, const Comparison& comparison, bool classes_known, const Speller& speller) {
  nb::dict out = run_dict(row.seconds, row.report.status, row.failure, speller);
  nb::list sizes;
  for (const auto& size : row.sizes) {
    nb::dict one = dict_of(size.score, classes_known);
    if (classes_known) {
      one["accuracy_p"] = size.accuracy_p;
      one["against_best"] = against_best(size, comparison, static_cast<std::size_t>(&size - row.sizes.data()));
    }
    sizes.append(one);
  }
  out["name"] = row.name;
  out["iterations"] = row.report.iterations;
  out["bytes"] = row.bytes ? nb::cast(*row.bytes) : nb::none();
  out["selected"] = to_array(row.selected);
  out["sizes"] = sizes;
  out["grid"] = grid_of(row, speller);
  return out;
}

// Warnings first, as the command gives them.
nb::list notes_of(const Run& run, const std::vector<std::string>& notes, const Speller& speller) {
  nb::list out = spelled(run.warnings(), speller);
  for (const auto& line : notes) out.append(to_text(line));
  return out;
}

nb::dict dict_of(const Comparison& comparison, const CompareRequest& request, const Run& run, const Speller& speller) {
  const bool classes_known = !request.classes.empty();
  nb::list methods, random;
  for (const auto& row : comparison.methods) methods.append(dict_of(row, comparison, classes_known, speller));
  for (const auto& band : comparison.random) random.append(dict_of(band, classes_known));
  nb::dict out;
  out["methods"] = methods;
  out["random"] = random;
  out["all"] = comparison.all ? dict_of(*comparison.all, classes_known) : nb::object(nb::none());
  out["sizes"] = to_array(request.sizes);
  out["scale"] = name_of(comparison.scale);
  out["scale_reason"] = to_text(comparison.scale_reason);
  out["notes"] = notes_of(run, comparison.notes, speller);
  return out;
}

// {"ufcm": {"alpha": 0.1}}
std::map<std::string, Settings> settings_by_method(const nb::dict& settings) {
  std::map<std::string, Settings> out;
  for (const auto& [name, values] : settings) {
    const Method& method = find_method(to_bytes(name));
    out[method.name] = settings_of(method, nb::cast<nb::dict>(values));
  }
  return out;
}

}  // namespace

FeatureCount feature_count(const nb::object& features) {
  FeatureCount wanted;
  wanted.otherwise = FeatureCount::Otherwise::all;
  if (features.is_none()) return wanted;
  if (nb::isinstance<nb::str>(features)) return parse_feature_count(nb::cast<std::string>(features));
  if (nb::isinstance<nb::float_>(features)) {
    wanted.fraction = nb::cast<double>(features);
  } else {
    wanted.count = nb::cast<Index>(features);
  }
  return wanted;
}

std::function<std::string(Index)> names_or_positions(const std::optional<std::vector<std::string>>& names) {
  if (!names) return {};
  return [names](Index j) { return names->empty() || (*names)[j].empty() ? std::to_string(j) : (*names)[j]; };
}

nb::dict compare(const nb::object& data, const std::vector<std::string>& methods, const nb::list& features,
                 Index clusters, const std::string& scale, const std::optional<Classes>& classes,
                 const nb::dict& settings, Index repeats, bool grid, std::uint64_t seed, int threads,
                 std::uint64_t memory, const nb::object& progress, const nb::dict& words,
                 const std::optional<std::vector<std::string>>& names) {
  const Speller speller = python_names(words);
  return speaking(speller, [&] {
    const Source source = source_of(data);
    CompareRequest request;
    std::vector<FeatureCount> sizes;
    for (const nb::handle size : features) sizes.push_back(feature_count(nb::borrow(size)));
    request.sizes = resolve_sizes(sizes, source.cols());
    request.clusters = clusters;
    request.scale = parse_scaling(scale);
    request.classes = classes_of(classes);
    request.settings = settings_by_method(settings);
    request.methods = methods.empty() ? compared_by_default(request.settings) : std::vector<Method>();
    for (const auto& name : methods) request.methods.push_back(find_method(name));
    request.repeats = repeats;
    request.grid = grid;
    request.name = names_or_positions(names);
    Run run(threads, seed, memory, progress);
    const Comparison comparison = run.without_gil([&] {
      require_comparable(source, request);
      return compare_methods(source, request, run.context());
    });
    return dict_of(comparison, request, run, speller);
  });
}

nb::dict evaluate(const nb::object& data, const Classes& classes, const std::vector<Index>& features, Index clusters,
                  Index repeats, Index subsets, std::uint64_t seed, int threads, const nb::object& progress,
                  const nb::dict& words) {
  const Source source = source_of(data);
  EvaluateOptions options;
  options.clusters = clusters;
  options.repeats = repeats;
  options.subsets = subsets;
  const std::vector<int> known = classes_of(classes);
  Run run(threads, seed, 0, progress);
  const Speller speller = python_names(words);
  const Evaluation found = speaking(speller, [&] {
    return run.without_gil([&] { return evaluate_features(source, known, features, options, run.context()); });
  });
  nb::dict random = dict_of(found.random, true);
  random["accuracy_p"] = found.random.accuracy_p;
  random["nmi_p"] = found.random.nmi_p;
  random["adjusted_rand_p"] = found.random.rand_p;
  nb::dict out;
  out["given"] = dict_of(found.given, true);
  out["max_variance"] = dict_of(found.max_variance, true);
  out["all"] = found.all ? nb::object(dict_of(*found.all, true)) : nb::none();
  out["random"] = random;
  out["notes"] = notes_of(run, found.notes, speller);
  return out;
}

}  // namespace tamis::python
