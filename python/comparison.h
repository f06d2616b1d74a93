// Lists of features, and the methods behind them, measured side by side.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "python/arrays.h"
#include "tamis/run/features.h"

namespace tamis::python {

// None, a count, or a fraction below 1.
FeatureCount feature_count(const nb::object& features);

// What columns are called in warnings: by name, or "column 3" where there are none; empty where nothing is given.
std::function<std::string(Index)> names_or_positions(const std::optional<std::vector<std::string>>& names);

nb::dict compare(const nb::object& data, const std::vector<std::string>& methods, const nb::list& features,
                 Index clusters, const std::string& scale, const std::optional<Classes>& classes,
                 const nb::dict& settings, Index repeats, bool grid, std::uint64_t seed, int threads,
                 std::uint64_t memory, const nb::object& progress, const nb::dict& words,
                 const std::optional<std::vector<std::string>>& names);

nb::dict evaluate(const nb::object& data, const Classes& classes, const std::vector<Index>& features, Index clusters,
                  Index repeats, Index subsets, std::uint64_t seed, int threads, const nb::object& progress,
                  const nb::dict& words);

}  // namespace tamis::python
