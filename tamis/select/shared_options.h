// Options that several methods have, each described here once.
#pragma once

#include <optional>
#include <string>

#include "tamis/base/options.h"

namespace tamis::shared {

Option clusters(Index& value);
// Directions d' of the methods that project the rows; `unset` says how many there are by default.
Option dims(std::optional<Index>& value, const std::string& unset);
// Starts of k-means, and what they are for: "k-means restarts per iteration".
Option restarts(Index& value, const std::string& purpose);
Option iterations(Index& value);
// "stop when the relative gain of J falls to this value"; `rounds` is what the method calls its iterations.
Option tolerance(double& value, const std::string& measure, const std::string& rounds = "iterations");
// Row sparsity of UFCM and SPCAFS.
Option sparsity(double& value);
Option sparsity_beta(std::optional<double>& value);
Option sparsity_power(double& value);

}  // namespace tamis::shared
