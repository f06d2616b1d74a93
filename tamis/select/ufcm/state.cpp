#include "tamis/select/ufcm/state.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tamis/linalg/archive.h"
#include "tamis/select/ufcm/fit.h"

namespace tamis {

bool is_finite(const Matrix& matrix) {
  return std::all_of(matrix.data(), matrix.data() + matrix.size(), [](double value) { return std::isfinite(value); });
}

std::string Fit::state() {
  Packer packer;
  exchange(packer);
  const Bytes bytes = packer.take();
  return {bytes.begin(), bytes.end()};
}

void Fit::resume(const std::string& state, bool sampled) {
  const double given_beta = beta_;
  const ByteView bytes(reinterpret_cast<const std::uint8_t*>(state.data()), state.size());
  Unpacker reader(bytes, ErrorCode::bad_data, "the state of the run is damaged (size)");
  exchange(reader);
  reader.finish();
  require_sound_shapes(sampled);
  require_sound_values(given_beta);
}

void Fit::require_sound_shapes(bool sampled) const {
  require_state(next_ >= 1 && next_ <= options_.iterations + 1, "iteration");
  directions_.require_sound_shapes(z_.cols());
  clusters_.require_sound_shapes(directions_.w().cols(), sampled);
  require_state(std::ssize(objective_) == next_ - 1 && std::ssize(terms_) == next_ - 1, "objective");
}

void Fit::require_beta(double wanted) const { require_state(std::abs(beta_ - wanted) <= 1e-9 * wanted, "beta"); }

// Whether beta can be b tr(W0'SW0) / sum_i ||w0^i||^p: the trace is at least tr(S) / d for the leading directions, and
// at most tr(S); the sum is at most d for p from 0 to 2, and at least 1.
bool Fit::is_scale_free(double beta) const {
  const double most = options_.sparsity * trace_;
  const double groups = std::accumulate(rows_.number.begin(), rows_.number.end(), 0.0);
  const double d = std::max(groups, static_cast<double>(z_.cols()));
  return beta >= (1 - 1e-6) * most / d / d && beta <= (1 + 1e-6) * most;
}

// What is kept twice must agree: U with its counts and with U'Z, W'W with I, the objective with all of it.
void Fit::require_sound_values(double given_beta) const {
  directions_.require_sound_values();
  require_state(next_ == 1 || directions_.has_exact_rows(), "rows of W");
  const UncountedPasses uncounted(context_);
  require_state(options_.beta ? std::abs(beta_ - given_beta) <= 1e-9 * given_beta : is_scale_free(beta_), "beta");
  clusters_.require_sound_values(next_ > 1, trace_);
  const auto agrees = [this](const Terms& terms, double objective) {  // to what another machine's rounding may do
    return std::abs(terms.objective(options_.alpha, beta_) - objective) <= 1e-9 * magnitude_of(terms);
  };
  for (std::size_t t = 0; t < terms_.size(); ++t) require_state(agrees(terms_[t], objective_[t]), "objective");
  if (next_ > 1) require_state(agrees(terms_at(directions_.pairs()), objective_.back()), "objective");
}

}  // namespace tamis
