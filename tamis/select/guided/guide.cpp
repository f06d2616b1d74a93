#include "tamis/select/guided/guide.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>

#include "tamis/base/error.h"
#include "tamis/base/random.h"
#include "tamis/cluster/kmeans.h"
#include "tamis/graph/graph.h"
#include "tamis/graph/laplacian.h"
#include "tamis/graph/views.h"
#include "tamis/linalg/dense.h"

namespace tamis {

namespace {

constexpr Index kModularityRuns = 2;
constexpr double kLeastModularity = 1e-6;
constexpr std::size_t kClustersAtOnce = 64;
constexpr Index kCellsWrittenOut = Index{1} << 24;  // 128 MB
// Residuals of eigenvectors: k-means sees no difference below them, and modularities only weigh graphs.
constexpr double kEigenTolerance = 1e-6;
constexpr double kRoughTolerance = 1e-4;
constexpr std::uint64_t kGuideStream = 0x67756964;

// Scales within [2, n / 3], each once.
std::vector<Index> allowed_scales(std::vector<Index> scales, Index n) {
  for (Index& c : scales) c = std::max<Index>(2, std::min(c, n / 3));
  std::sort(scales.begin(), scales.end());
  scales.erase(std::unique(scales.begin(), scales.end()), scales.end());
  return scales;
}

Partition partition_of(const std::vector<int>& labels, double weight) {
  Partition out{labels, {}, weight};
  std::map<int, int> position;  // clusters without rows are left out
  for (const int label : labels) position.emplace(label, 0);
  int next = 0;
  for (auto& entry : position) entry.second = next++;
  out.sizes.assign(position.size(), 0);
  for (int& label : out.labels) {
    label = position[label];
    ++out.sizes[label];
  }
  return out;
}

// The rows of a graph as points whose clusters are those of the graph.
class Embedding {
 public:
  Embedding(const Graph& graph, Index most, double tolerance, Context& context) : part_(connected_parts(graph)) {
    parts_ = *std::max_element(part_.begin(), part_.end()) + 1;
    if (parts_ >= most) return;
    const Spectrum smooth = smoothest_eigenvectors(graph, most - 1, context, tolerance);
    vectors_ = hstack(trivial_eigenvector(graph), smooth.vectors);
  }

  Index parts() const { return parts_; }

  // The unit rows of the first c eigenvectors. Where the graph has more than c parts these would be an arbitrary
  // choice: then of the eigenvectors of all parts, which gives every row the unit vector of its part.
  Points<double> points(Index c) const {
    if (parts_ > c || vectors_.empty()) {
      Matrix rows(static_cast<Index>(part_.size()), parts_);
      for (std::size_t i = 0; i < part_.size(); ++i) rows(static_cast<Index>(i), part_[i]) = 1;
      return Points<double>(rows);
    }
    Matrix rows = first_columns(vectors_, std::min(c, vectors_.cols()));
    for (Index i = 0; i < rows.rows(); ++i) {
      double square = 0;
      for (Index k = 0; k < rows.cols(); ++k) square += rows(i, k) * rows(i, k);
      const double norm = std::max(std::sqrt(square), 1e-12);
      for (Index k = 0; k < rows.cols(); ++k) rows(i, k) /= norm;
    }
    return Points<double>(rows);
  }

 private:
  std::vector<int> part_;
  Index parts_ = 1;
  Matrix vectors_;
};

// Labels of `runs` k-means runs for every scale, one scale after the other.
std::vector<std::vector<int>> spectral_labels(const Embedding& embedding, const std::vector<Index>& scales, Index runs,
                                              Context& context) {
  const auto count = static_cast<Index>(scales.size());
  std::vector<std::vector<int>> labels(count * runs);
  context.phase("k-means of the rows");
  context.pool().run(count, [&](Index s) {
    const Index c = scales[s];
    const Points<double> points = embedding.points(c);
    KMeansOptions options;
    options.clusters = c;
    options.restarts = 1;
    options.exchange = false;  // runs that end in different optima make the better average
    for (Index run = 0; run < runs; ++run) {
      context.check_cancelled();
      options.seed = Random(context.seed, kGuideStream).bits(static_cast<std::uint64_t>(c * 1024 + run));
      labels[s * runs + run] = kmeans(points, options, context).labels;
    }
  });
  return labels;
}

double best_modularity(const Graph& graph, const std::vector<Index>& scales, Context& context) {
  const Embedding embedding(graph, scales.back(), kRoughTolerance, context);
  double best = kLeastModularity;
  for (const auto& labels : spectral_labels(embedding, scales, kModularityRuns, context)) {
    best = std::max(best, modularity(graph, labels));
  }
  return best;
}

Source unit_deviations(const Source& source, Context& context) {
  const ColumnMoments moments = column_moments(source, context);
  std::vector<double> scale;
  for (const double scatter : moments.scatter) {
    scale.push_back(1 / (std::sqrt(scatter / static_cast<double>(moments.rows)) * moments.unit));
  }
  Source out = source.with_column_scale(scale);
  require(std::ranges::all_of(out.column_scale(), [](double factor) { return std::isfinite(factor); }),
          ErrorCode::bad_data, "guided: values so small that 1 / deviation overflows: scale the data");
  return out;
}

Source unit_rows_of(const Source& source, Context& context) {
  std::vector<double> scale = row_squared_norms(source, context);
  for (double& square : scale) square = square > 0 ? 1 / std::sqrt(square) : 1;
  return source.with_row_scale(scale);
}

Graph view_graph(const Source& view, Index neighbors, Context& context) {
  GraphOptions options;
  options.neighbors = neighbors;
  options.weights = "binary";
  options.recall = 1;
  return neighbor_graph(view, options, context);
}

Source written_out(const Source& view, Context& context) {
  return writes_views_out(view.rows(), view.cols(), view.sparse()) ? source_over(gather(view, context)) : view;
}

// One after the other, each with products of its own.
GuideGraphs graphs_of_views(const Source& source, Index neighbors, Context& context) {
  const GuideGraphs::size_type count = 3;
  const std::array<Source, count> views = {source, unit_deviations(source, context), unit_rows_of(source, context)};
  GuideGraphs out;
  for (std::size_t g = 0; g < count; ++g) {
    const Stage stage(context, concat("graph ", g + 1, " of ", count));
    out[g] = view_graph(written_out(views[g], context), neighbors, context);
  }
  return out;
}

// A, with the weights of its three graphs.
Graph average_graph(const GuideGraphs& graphs, const GuideOptions& options, Guide& guide, Context& context) {
  const std::vector<Index> scales = allowed_scales(options.scales, guide.rows);
  double sum = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const Stage stage(context, concat("graph ", g + 1, " of ", graphs.size()));
    guide.modularity[g] = best_modularity(graphs[g], scales, context);
    sum += guide.modularity[g] * guide.modularity[g];
  }
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    guide.graph_weights[g] = guide.modularity[g] * guide.modularity[g] / sum;
  }
  return weighted_sum(graphs, guide.graph_weights);
}

std::vector<Index> columns_in(const std::vector<char>& half, char which) {
  std::vector<Index> out;
  for (std::size_t j = 0; j < half.size(); ++j) {
    if (half[j] == which) out.push_back(static_cast<Index>(j));
  }
  return out;
}

// What every scale weighs in P: the mean over the scales, and where c is known of that and of the mean around c.
std::map<Index, double> weights_of_scales(const GuideOptions& options, Index n) {
  std::vector<std::vector<Index>> groups = {allowed_scales(options.scales, n)};
  if (options.clusters) {
    const Index c = *options.clusters;
    groups.push_back(allowed_scales({(c + 1) / 2, c, 2 * c}, n));
  }
  std::map<Index, double> out;
  for (const auto& group : groups) {
    for (const Index c : group) out[c] += 1 / static_cast<double>(group.size() * groups.size());
  }
  return out;
}

// sum_kl n_kl^2 / (n_k n_l) = tr of the product of two projectors.
double trace_of_product(const Partition& a, const Partition& b) {
  std::vector<double> both(a.sizes.size() * b.sizes.size());
  for (std::size_t i = 0; i < a.labels.size(); ++i) {
    both[a.labels[i] * b.sizes.size() + b.labels[i]] += 1;
  }
  double sum = 0;
  for (std::size_t k = 0; k < a.sizes.size(); ++k) {
    for (std::size_t l = 0; l < b.sizes.size(); ++l) {
      const double count = both[k * b.sizes.size() + l];
      sum += count * count / (static_cast<double>(a.sizes[k]) * static_cast<double>(b.sizes[l]));
    }
  }
  return sum;
}

}  // namespace

bool writes_views_out(Index rows, Index cols, bool sparse) {
  return !sparse && rows <= kCellsWrittenOut / std::max<Index>(1, cols);
}

std::vector<GuideGraphs> guide_graphs(const Source& source, const std::vector<char>& half, const GuideOptions& options,
                                      Context& context) {
  const Index neighbors = std::max<Index>(2, std::min(options.neighbors, source.rows() / 8));
  unit_deviations(source, context);  // which must be finite
  std::vector<GuideGraphs> out;
  if (auto found = nearest_in_views(source, half, neighbors, context)) {
    for (ViewNeighbors& views : *found) {
      GuideGraphs& graphs = out.emplace_back();
      for (std::size_t g = 0; g < views.size(); ++g) graphs[g] = binary_graph(std::move(views[g]), source.rows());
    }
    return out;
  }
  out.push_back(graphs_of_views(source, neighbors, context));
  if (half.empty()) return out;
  for (const char which : {char{0}, char{1}}) {
    const Stage stage(context, concat("half ", which + 1, " of 2"));
    out.push_back(graphs_of_views(source.with_columns(columns_in(half, which)), neighbors, context));
  }
  return out;
}

Guide make_guide(const GuideGraphs& graphs, const GuideOptions& options, Context& context) {
  Guide guide;
  guide.rows = graphs.front().rows;
  const Graph graph = average_graph(graphs, options, guide, context);
  const std::map<Index, double> weights = weights_of_scales(options, guide.rows);
  std::vector<Index> scales;
  for (const auto& entry : weights) scales.push_back(entry.first);
  const Embedding embedding(graph, scales.back(), kEigenTolerance, context);
  guide.parts = embedding.parts();
  const auto labels = spectral_labels(embedding, scales, options.runs, context);
  for (std::size_t q = 0; q < labels.size(); ++q) {
    const Index scale = scales[q / options.runs];
    guide.partitions.push_back(partition_of(labels[q], weights.at(scale) / static_cast<double>(options.runs)));
  }
  return guide;
}

// With A = HPH: mean tr(A) / (n - 1), variance 2 (tr(A^2) / (n - 1) - mean^2) / (n + 1). P1 = 1, so tr(A^2) = tr(P^2)
// - 1.
Chance chance(const Guide& guide) {
  const auto n = static_cast<double>(guide.rows);
  double trace = 0, square = -1;
  for (const Partition& a : guide.partitions) {
    trace += a.weight * static_cast<double>(a.sizes.size() - 1);
    for (const Partition& b : guide.partitions) square += a.weight * b.weight * trace_of_product(a, b);
  }
  const double mean = trace / (n - 1);
  return {mean, std::sqrt(std::max(2 * (square / (n - 1) - mean * mean) / (n + 1), 0.0))};
}

// A = BB' for the columns b_k = sqrt(weight / size_k) H u_k of all clusters of all partitions: its eigenvalues are
// those of the small B'B, where u_k'Hu_l = n_kl - n_k n_l / n.
std::vector<double> guide_eigenvalues(const Guide& guide) {
  const auto n = static_cast<double>(guide.rows);
  std::vector<Index> starts;
  Index total = 0;
  for (const Partition& partition : guide.partitions) {
    starts.push_back(total);
    total += static_cast<Index>(partition.sizes.size());
  }
  Matrix gram(total, total);
  for (std::size_t p = 0; p < guide.partitions.size(); ++p) {
    for (std::size_t q = 0; q < guide.partitions.size(); ++q) {
      const Partition &a = guide.partitions[p], &b = guide.partitions[q];
      for (std::size_t i = 0; i < a.labels.size(); ++i) gram(starts[p] + a.labels[i], starts[q] + b.labels[i]) += 1;
      for (std::size_t k = 0; k < a.sizes.size(); ++k) {
        for (std::size_t l = 0; l < b.sizes.size(); ++l) {
          double& value = gram(starts[p] + static_cast<Index>(k), starts[q] + static_cast<Index>(l));
          const double sizes = static_cast<double>(a.sizes[k]) * static_cast<double>(b.sizes[l]);
          value = (value - sizes / n) * std::sqrt(a.weight * b.weight / sizes);
        }
      }
    }
  }
  std::vector<double> values = symmetric_eigen(std::move(gram)).values;
  std::erase_if(values, [](double value) { return value <= 1e-12; });
  if (static_cast<Index>(values.size()) > guide.rows - 1) values.resize(guide.rows - 1);
  return values;
}

// Z'U of some partitions at a time: a product with a few columns costs little more than with one.
std::vector<double> guided_scatter(const Guide& guide, const Centered& z, Context& context) {
  std::vector<double> out(z.cols());
  for (std::size_t begin = 0; begin < guide.partitions.size();) {
    std::vector<double> factors;  // weight / size of every cluster
    std::size_t end = begin;
    for (; end < guide.partitions.size() && (end == begin || factors.size() < kClustersAtOnce); ++end) {
      const Partition& partition = guide.partitions[end];
      for (const Index size : partition.sizes) factors.push_back(partition.weight / static_cast<double>(size));
    }
    Matrix indicators(z.rows(), static_cast<Index>(factors.size()));
    Index first = 0;
    for (std::size_t q = begin; q < end; ++q) {
      const Partition& partition = guide.partitions[q];
      for (Index i = 0; i < z.rows(); ++i) indicators(i, first + partition.labels[i]) = 1;
      first += static_cast<Index>(partition.sizes.size());
    }
    const Matrix sums = multiply_transposed(z, indicators, context);
    for (Index j = 0; j < sums.rows(); ++j) {
      for (std::size_t k = 0; k < factors.size(); ++k) {
        const double sum = sums(j, static_cast<Index>(k));
        out[j] += factors[k] * sum * sum;
      }
    }
    begin = end;
  }
  return out;
}

std::size_t best_partition(const Guide& guide) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t q = 0; q < guide.partitions.size(); ++q) {
    const Partition& own = guide.partitions[q];
    double inner = -1;  // <HU(U'U)^-1U'H, HPH>
    for (const Partition& other : guide.partitions) inner += other.weight * trace_of_product(own, other);
    const double agreement = own.sizes.size() > 1 ? inner / std::sqrt(static_cast<double>(own.sizes.size() - 1)) : 0.0;
    const bool fewer = own.sizes.size() < guide.partitions[best].sizes.size();
    if (agreement > most + 1e-12 || (agreement > most - 1e-12 && fewer)) {
      most = std::max(most, agreement);
      best = q;
    }
  }
  return best;
}

}  // namespace tamis
