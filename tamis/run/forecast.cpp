#include "tamis/run/forecast.h"

#include <algorithm>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/run/spelling.h"

namespace tamis {

namespace {

constexpr double kProgramBytes = 14.0 * (1 << 20);  // the program itself with its BLAS, measured
constexpr double kThreadBytes = 2.0 * (1 << 20);    // stacks and tiles of a thread
constexpr double kFlopsPerSecond = 5e9;             // of a core, in the passes
constexpr double kIterations = 10.0;                // that most runs take

double numeric(const Options& options, const std::string& name, double otherwise) {
  for (const auto& option : options) {
    if (option.name != name) continue;
    if (const auto* value = std::get_if<Index*>(&option.value)) return static_cast<double>(**value);
    if (const auto* value = std::get_if<double*>(&option.value)) return **value;
    if (const auto* value = std::get_if<std::optional<Index>*>(&option.value)) {
      return *value && **value ? static_cast<double>(***value) : otherwise;
    }
    if (const auto* value = std::get_if<std::optional<double>*>(&option.value)) {
      return *value && **value ? ***value : otherwise;
    }
  }
  return otherwise;
}

}  // namespace

std::uint64_t data_bytes(const Store& store) {
  const auto cells = static_cast<std::uint64_t>(store.nonzeros());
  if (!store.sparse()) return cells * size_of(store.dtype());
  return cells * (size_of(store.dtype()) + sizeof(std::int32_t)) +
         static_cast<std::uint64_t>(store.rows() + 1) * sizeof(std::int64_t);
}

// UFCM keeps n (d' + 2) + 6 d d' numbers and, for d <= n and alpha != 1, a d x d matrix (ufcm.h); finding the principal
// directions takes three times that for a while (measured on 100 x 20000 ... 200000 x 64). Its passes use every stored
// entry d' times, an iteration costs two of them and the k-means restarts on n x d' points.
Forecast forecast(const std::string& method, const Source& source, const Options& options, int threads) {
  const auto n = static_cast<double>(source.rows()), d = static_cast<double>(source.cols());
  const double entries = source.sparse() ? static_cast<double>(source.store().nonzeros()) : n * d;
  const double c = numeric(options, "clusters", 8.0);
  const double dims = std::min(numeric(options, "dims", std::max(1.0, c - 1.0)), d);
  const bool square = method == "ufcm" && d <= n && numeric(options, "alpha", 1.0) != 1.0;
  const double restarts = numeric(options, "restarts", 1.0);

  const double numbers = n * (dims + 8.0) + 18.0 * d * dims + (square ? d * d : 0.0) + 4.0 * (n + d);
  const double directions = 2.0 * entries * (dims + 10.0) * 8.0;
  const double iteration =
      4.0 * entries * dims + 2.0 * n * dims * c * restarts * 10.0 + (square ? 2.0 * d * d * dims : 0.0);
  const double flops = directions + (square ? n * d * d : 0.0) + kIterations * iteration;

  Forecast result;
  result.data_bytes = data_bytes(source.store());
  result.peak_bytes =
      result.data_bytes + static_cast<std::uint64_t>(8.0 * numbers + kProgramBytes + kThreadBytes * threads);
  result.seconds = flops / (kFlopsPerSecond * static_cast<double>(threads));
  return result;
}

void require_memory(const Forecast& need, std::uint64_t limit, const std::string& where) {
  require(limit == 0 || need.peak_bytes <= limit, ErrorCode::resources, where, ": needs about ",
          size_text(need.peak_bytes), ", memory = ", size_text(limit), "; the least that would do is --memory ",
          need.peak_bytes);
}

}  // namespace tamis
