#include "tamis/select/shared_options.h"

namespace tamis::shared {

Option clusters(Index& value) {
  return {.name = "clusters",
          .python_name = "n_clusters",
          .value = &value,
          .range = at_least(1),
          .help = "number of clusters c"};
}

Option dims(std::optional<Index>& value, const std::string& unset) {
  return {.name = "dims",
          .python_name = "n_components",
          .value = &value,
          .range = at_least(1),
          .help = "number of directions d'",
          .unset_text = unset};
}

Option restarts(Index& value, const std::string& purpose) {
  return {.name = "restarts",
          .python_name = "n_init",
          .value = &value,
          .range = at_least(1),
          .help = "k-means restarts " + purpose};
}

Option iterations(Index& value) {
  return {.name = "iterations",
          .python_name = "max_iter",
          .value = &value,
          .range = at_least(1),
          .help = "maximum number of iterations"};
}

Option tolerance(double& value, const std::string& measure, const std::string& rounds) {
  return {.name = "tolerance",
          .python_name = "tol",
          .value = &value,
          .range = at_least(0),
          .help = "stop when the relative " + measure + " falls to this value; 0 runs all " + rounds};
}

Option sparsity(double& value) {
  return {.name = "sparsity",
          .value = &value,
          .range = at_least(0),
          .help = "scale-free weight b of the row sparsity: beta = b tr(W0'SW0) / sum_i ||w0^i||^p"};
}

Option sparsity_beta(std::optional<double>& value) {
  return {.name = "beta",
          .value = &value,
          .range = at_least(0),
          .help = "weight of the row sparsity in units of the scatter; overrides sparsity",
          .unset_text = "from sparsity"};
}

Option sparsity_power(double& value) {
  return {.name = "p",
          .value = &value,
          .range = {.low = 0, .high = 2, .low_open = true},
          .help = "power of the row norms: smaller is sparser, 2 is a ridge"};
}

}  // namespace tamis::shared
