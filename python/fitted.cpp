#include "python/fitted.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "python/run.h"
#include "python/spelling.h"
#include "tamis/cluster/means.h"
#include "tamis/report/select_page.h"

namespace tamis::python {

namespace {

// The page that the command writes, of the same rows.
nb::object page_of(const Fitted& fitted, const nb::object& data, const std::vector<std::string>& names,
                   const std::string& path, const std::string& image, const nb::dict& words) {
  return speaking(python_names(words), [&] {
    Table table;
    table.source = source_of(data);
    table.names = names;
    table.path = path;
    table.format = "Python";
    SelectPageOptions options;
    if (!image.empty()) options.image = parse_image_shape(image);
    if (options.image) require_image(*options.image, table);
    Run run(fitted.threads, fitted.seed, fitted.memory_limit, nb::none());
    const SelectionRecord record{table,          *fitted.method,      options_in_use(*fitted.bound, fitted.request),
                                 fitted.request, fitted.result,       fitted.seed,
                                 fitted.threads, fitted.memory_limit, peak_resident_bytes(),
                                 fitted.warnings};
    const std::string html = run.without_gil([&] { return page_html(select_page(record, options, run.context())); });
    return nb::object(nb::bytes(html.data(), html.size()));
  });
}

// The means of the clusters, as the rows are and as the method saw them where rows were scaled.
nb::dict means_of_clusters(const Fitted& fitted, const nb::object& data) {
  const SelectResult& result = fitted.result;
  Run run(fitted.threads, fitted.seed, fitted.memory_limit, nb::none());
  const Source source = weighted(source_of(data), fitted.request).with_columns(result.available);
  Context& context = run.context();
  Matrix seen;
  Matrix means = run.without_gil([&] {
    if (result.scale == Scaling::unit) {
      const Source rows = scaled(source, Scaling::unit, {}, context);
      seen = cluster_means(rows, result.selection.clusters, context);
    }
    return cluster_means(source, result.selection.clusters, context);
  });
  nb::dict out;
  out["means"] = to_array(std::move(means));
  out["seen"] = to_array(std::move(seen));
  return out;
}

nb::object nearest_means(const nb::object& data, const std::vector<Index>& columns, const nb::object& column_scale,
                         bool unit_rows, const nb::object& center, const nb::object& directions,
                         const nb::object& offset, int threads) {
  Run run(threads, 0, 0, nb::none());
  Source source = source_of(data).with_columns(columns);
  if (!column_scale.is_none()) source = source.with_column_scale(doubles_of(column_scale));
  const NearestMean rule{doubles_of(center), matrix_of(directions), doubles_of(offset)};
  return to_array(run.without_gil([&] {
    if (unit_rows) source = scaled(source, Scaling::unit, {}, run.context());
    return nearest_clusters(source, rule, run.context());
  }));
}

}  // namespace

std::vector<std::string> warning_texts(const std::vector<Warning>& reported, const std::vector<Warning>& others,
                                       const Speller& speller) {
  std::vector<std::string> out;
  for (const auto* warnings : {&reported, &others}) {
    for (const Warning& warning : *warnings) {
      std::string text = warning.message.spelled(speller);
      if (std::find(out.begin(), out.end(), text) == out.end()) out.push_back(std::move(text));
    }
  }
  return out;
}

void register_fitted(nb::module_& m) {
  using namespace nb::literals;
  nb::class_<Fitted>(m, "Fitted", "The request and result of a selection, without the rows.");
  m.def("selection_page", &page_of, "fitted"_a, "data"_a, "names"_a, "path"_a, "image"_a = "", "words"_a = nb::dict(),
        "The page that the command would write, as HTML.");
  m.def("cluster_means", &means_of_clusters, "fitted"_a, "data"_a,
        "The means of the clusters over the columns that the method saw: as they are, and as it saw them (None: the "
        "same but for the scale of the columns).");
  m.def("nearest_means", &nearest_means, "data"_a, "columns"_a, "column_scale"_a.none(), "unit_rows"_a, "center"_a,
        "directions"_a, "offset"_a, "threads"_a = 0, "The cluster of each row: tamis/cluster/means.h.");
}

}  // namespace tamis::python
