// Lists of features, and the methods behind them, measured side by side.
#pragma once

#include <string>
#include <vector>

#include "python/arrays.h"
#include "tamis/run/features.h"

namespace tamis::python {

// None, a count, or a fraction below 1.
FeatureCount feature_count(const nb::object& features);

nb::dict compare(const nb::object& data, const std::vector<std::string>& methods, const nb::list& features,
                 Index clusters, const std::string& scale, const std::optional<Classes>& classes,
                 const nb::dict& settings, Index repeats, bool grid, std::uint64_t seed, int threads,
                 std::uint64_t memory, const nb::object& progress, const nb::dict& words);

nb::dict evaluate(const nb::object& data, const Classes& classes, const std::vector<Index>& features, Index clusters,
                  Index repeats, Index subsets, std::uint64_t seed, int threads, const nb::object& progress,
                  const nb::dict& words);

}  // namespace tamis::python
