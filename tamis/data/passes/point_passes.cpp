#include "tamis/data/passes/point_passes.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "tamis/data/passes/pass.h"
#include "tamis/linalg/kernels.h"

namespace tamis {

// --- How points and labels travel: not at all, once they are where the rows are ------------------------------------

template <class T>
void Wire<Points<T>>::put(RemoteRequest& request, const Points<T>& points) {
  request.shared.put(points.dims());
  request.call.reads = false;
  request.call.by_row.push_back({nullptr, 0, points.there().handle});
}

template <class T>
Points<T> Wire<Points<T>>::take(ChunkTask& task) {
  const auto dims = task.shared.number<Index>();
  return Points<T>(task.next_by_row(), task.rows, dims);
}

namespace {
enum class LabelsAre : std::uint8_t { none, sent, there };
}  // namespace

void Wire<RowLabels>::put(RemoteRequest& request, const RowLabels& labels) {
  const bool there = labels.there.store != nullptr;
  request.call.reads = false;
  request.shared.put(there ? LabelsAre::there : labels.empty() ? LabelsAre::none : LabelsAre::sent);
  request.shared.put(labels.moved);
  if (there) {
    request.call.by_row.push_back({nullptr, 0, labels.there.handle});
  } else if (!labels.empty()) {
    request.call.by_row.push_back({labels.values.data(), sizeof(std::int32_t), nullptr});
  }
}

RowLabels Wire<RowLabels>::take(ChunkTask& task) {
  RowLabels labels;
  const auto are = task.shared.number<LabelsAre>();
  const auto moved = task.shared.list<RowLabels::Moved>();
  require(are <= LabelsAre::there, ErrorCode::internal, "labels of an unknown kind");
  if (are == LabelsAre::none) return labels;
  labels.values = task.list_by_row<std::int32_t>();
  for (const auto& [row, label] : moved) {
    if (row >= task.first && row < task.first + task.rows) {
      labels.values[row - task.first] = static_cast<std::int32_t>(label);
    }
  }
  return labels;
}

void RowLabels::set(Index row, std::int32_t label) {
  if (there.store == nullptr) {
    values[row] = label;
  } else {
    moved.push_back({row, label});
  }
}

namespace {

RemotePart bytes_of(std::vector<std::int32_t> values) {
  const auto owner = std::make_shared<const std::vector<std::int32_t>>(std::move(values));
  return {{reinterpret_cast<const std::uint8_t*>(owner->data()), owner->size() * sizeof(std::int32_t)}, owner};
}

void keep_there(RowLabels& labels, LeftRows there) {
  labels.there = std::move(there);
  labels.values = {};
  labels.moved.clear();
}

// --- Z W ------------------------------------------------------------------------------------------------------------

struct Projected {
  template <class Archive>
  void exchange(Archive& archive) {
    archive(squared_norm);
  }

  double squared_norm = 0;
  std::optional<Points<double>> points;  // where they are
  LeftRows there;
};

class ProjectPass {
 public:
  static constexpr const char* kName = "project";
  static constexpr Index kReadings = 1;
  using Result = Projected;

  ProjectPass(const Centered& z, const Matrix& w) : z_(z), w_(w) {}
  auto given() const { return std::tie(z_, w_); }
  Index result_size() const { return 1; }

  Projected whole(Context& context) const {
    Projected out;
    out.points.emplace(multiply(z_, w_, context));
    out.squared_norm = out.points->squared_norm();
    return out;
  }
  static void merge(Projected& into, Projected&& from) { into.squared_norm += from.squared_norm; }
  bool fits(const Projected& sum) const { return !(sum.squared_norm < 0); }

  RemotePart left(Projected& result) const { return result.points->bytes(); }
  void keep(LeftRows there, Projected& result) const { result.there = std::move(there); }

 private:
  const Centered& z_;
  const Matrix& w_;
};

class TakePointsPass {
 public:
  static constexpr const char* kName = "take_points";
  static constexpr Index kReadings = 0;
  using Result = Matrix;

  TakePointsPass(const Points<double>& points, const std::vector<Index>& rows) : points_(points), rows_(rows) {}
  auto given() const { return std::tuple<const Points<double>&, RowList>(points_, RowList{rows_}); }
  Index row_count() const { return static_cast<Index>(rows_.size()); }
  Index row_width() const { return points_.dims(); }

  Matrix whole(Context&) const {
    Matrix out(row_count(), row_width());
    for (Index i = 0; i < out.rows(); ++i) {
      for (Index j = 0; j < out.cols(); ++j) out(i, j) = points_.at(rows_[i], j);
    }
    return out;
  }

 private:
  const Points<double>& points_;
  const std::vector<Index>& rows_;
};

}  // namespace

Points<double> project(const Centered& z, const Matrix& w, Context& context) {
  const RemoteStore* store = remote_under(z);
  // Points are summed in blocks of the program's size.
  if (store == nullptr || store->block_rows() != kBlockRows) return Points<double>(multiply(z, w, context));
  Projected found = reduce(ProjectPass(z, w), context);
  return Points<double>(z.rows(), w.cols(), found.squared_norm, std::move(found.there));
}

Points<double> take_points(const Points<double>& points, const std::vector<Index>& rows, Context& context) {
  if (points.there().store == nullptr) return Points<double>(points, rows);
  return Points<double>(reduce(TakePointsPass(points, rows), context));
}

// --- Sums by cluster ------------------------------------------------------------------------------------------------

void ClusterSums::check() const {
  require_counts(counts);
  require_counts({changed});
}

void ClusterSums::take(ClusterSums& change) {
  if (change.changed == 0) return;
  const bool fits = points.rows() == change.points.rows() && points.cols() == change.points.cols() &&
                    counts.size() == change.counts.size();
  require(fits, ErrorCode::internal, "sums of clusters of other shapes");
  for (Index i = 0; i < points.size(); ++i) points.data()[i] += std::exchange(change.points.data()[i], 0.0);
  for (std::size_t k = 0; k < counts.size(); ++k) counts[k] += std::exchange(change.counts[k], Index{0});
  changed += std::exchange(change.changed, Index{0});
}

namespace {

void merge_clusters(ClusterSums& into, ClusterSums&& from) {
  if (into.changed == 0) {
    std::swap(into, from);
  } else {
    into.take(from);
  }
}

template <class T>
void add_point(const Points<T>& points, Index row, std::int32_t cluster, int sign, ClusterSums& sums) {
  const T* point = points.panel(row / kPanel) + row % kPanel;
  double* sum = sums.points.row(cluster);
  const double times = sign * points.weight(row);
  if (times == 0) return;
  for (Index j = 0; j < points.dims(); ++j) sum[j] += times * static_cast<double>(point[j * kPanel]);
  sums.counts[cluster] += sign;
}

Index point_blocks(Index rows) { return pieces(rows, kBlockRows); }

// Whether these can be sums of points, or what changes them.
template <class T>
bool clusters_fit(const ClusterSums& sums, const Points<T>& points, Index clusters) {
  if (sums.changed == 0) return true;  // nothing of it is used
  const Index n = points.rows();
  return has_shape(sums.points, clusters, points.dims()) && static_cast<Index>(sums.counts.size()) == clusters &&
         sums.changed > 0 && sums.changed <= n &&
         std::ranges::all_of(sums.counts, [&](Index count) { return count >= -n && count <= n; });
}

// That a chunk's points have labels, and those of clusters that there are.
template <class T>
void require_labels(const RowLabels& labels, const Points<T>& points, Index clusters) {
  const bool sound = static_cast<Index>(labels.values.size()) == points.rows() && are_labels(labels.values, clusters);
  require(sound, ErrorCode::internal, "points of a chunk in clusters that are not among ", clusters);
}

// What the passes below share: they sum points by cluster, and leave labels with the chunks.
class ClusterPass {
 public:
  static constexpr Index kReadings = 0;
  using Result = ClusterSums;

  static void merge(ClusterSums& into, ClusterSums&& from) { merge_clusters(into, std::move(from)); }
  RemotePart left(ClusterSums&) const { return bytes_of(std::move(labels_.values)); }
  void keep(LeftRows there, ClusterSums&) const { keep_there(labels_, std::move(there)); }

 protected:
  explicit ClusterPass(RowLabels& labels) : labels_(labels) {}
  RowLabels& labels_;
};

template <class T>
class SumClustersPass : public ClusterPass {
 public:
  static constexpr const char* kName = "sum_clusters";

  SumClustersPass(const Points<T>& points, Index clusters, RowLabels& labels)
      : ClusterPass(labels), points_(points), clusters_(clusters) {}
  auto given() const { return std::tuple<const Points<T>&, Index, RowLabels&>(points_, clusters_, labels_); }
  Index result_size() const { return clusters_ * points_.dims(); }

  ClusterSums whole(Context& context) const {
    std::vector<ClusterSums> sums(point_blocks(points_.rows()));
    context.pool().run(static_cast<Index>(sums.size()), [&](Index b) {
      ClusterSums& sum = sums[b] = ClusterSums(clusters_, points_.dims());
      for (Index i = b * kBlockRows; i < std::min((b + 1) * kBlockRows, points_.rows()); ++i) {
        const std::int32_t label = labels_.values[i];
        if (label < 0) continue;
        add_point(points_, i, label, 1, sum);
        ++sum.changed;
      }
    });
    merge_in_tree(sums, merge_clusters);
    return sums.empty() ? ClusterSums() : std::move(sums.front());
  }
  bool fits(const ClusterSums& sums) const { return clusters_fit(sums, points_, clusters_); }
  void check_arguments() const { require_labels(labels_, points_, clusters_); }

 private:
  const Points<T>& points_;
  const Index clusters_;
};

// --- Lloyd's step ---------------------------------------------------------------------------------------------------

template <class T>
class AssignPass : public ClusterPass {
 public:
  static constexpr const char* kName = "assign_points";

  AssignPass(const Points<T>& points, const std::vector<T>& g, const std::vector<T>& norm, const RowLabels& fixed,
             RowLabels& labels, std::vector<ClusterSums>* changes = nullptr)
      : ClusterPass(labels), points_(points), g_(g), norm_(norm), fixed_(fixed), changes_(changes) {}
  auto given() const {
    return std::tuple<const Points<T>&, const std::vector<T>&, const std::vector<T>&, const RowLabels&, RowLabels&>(
        points_, g_, norm_, fixed_, labels_);
  }
  Index result_size() const { return clusters() * points_.dims(); }

  ClusterSums whole(Context& context) const {
    if (labels_.empty()) labels_.values.assign(points_.rows(), -1);
    std::vector<ClusterSums> own;
    std::vector<ClusterSums>& changes = changes_ == nullptr ? own : *changes_;
    changes.resize(point_blocks(points_.rows()), ClusterSums(clusters(), points_.dims()));
    context.pool().run(static_cast<Index>(changes.size()), [&](Index b) { assign(b, changes[b]); });
    merge_in_tree(changes, merge_clusters);
    if (changes.empty() || changes.front().changed == 0) return {};
    return std::exchange(changes.front(), ClusterSums(clusters(), points_.dims()));
  }
  bool fits(const ClusterSums& change) const { return clusters_fit(change, points_, clusters()); }
  void check_arguments() const {
    const bool sound = clusters() >= 1 && is_times(g_.size(), clusters(), points_.dims());
    require(sound, ErrorCode::internal, clusters(), " centers of ", g_.size(), " numbers in all");
    if (!fixed_.empty()) require_labels(fixed_, points_, clusters());
    if (!labels_.empty()) require_labels(labels_, points_, clusters());
  }

 private:
  Index clusters() const { return static_cast<Index>(norm_.size()); }

  void assign(Index b, ClusterSums& change) const {
    constexpr Index kPanels = kBlockRows / kPanel;
    const Index panels = std::min(kPanels, points_.panels() - b * kPanels);
    T best[kBlockRows];
    std::int32_t label[kBlockRows];
    kernels<T>().nearest(points_.panel(b * kPanels), panels, points_.dims(), g_.data(), norm_.data(), clusters(), best,
                         label);
    const Index first = b * kBlockRows, rows = std::min(kBlockRows, points_.rows() - first);
    if (!fixed_.empty()) {
      for (Index i = 0; i < rows; ++i) {
        const std::int32_t fixed = fixed_.values[first + i];
        if (fixed >= 0) label[i] = fixed;
      }
    }
    std::int32_t* before = labels_.values.data() + first;
    for (Index begin = 0; begin < rows; begin += kPanel) {
      const Index end = std::min(begin + kPanel, rows);
      if (std::equal(label + begin, label + end, before + begin)) continue;  // most panels, after a few steps
      for (Index i = begin; i < end; ++i) {
        if (label[i] == before[i]) continue;
        if (before[i] >= 0) add_point(points_, first + i, before[i], -1, change);
        add_point(points_, first + i, label[i], 1, change);
        before[i] = label[i];
        ++change.changed;
      }
    }
  }

  const Points<T>& points_;
  const std::vector<T>&g_, &norm_;
  const RowLabels& fixed_;
  std::vector<ClusterSums>* changes_;
};

// --- Single points --------------------------------------------------------------------------------------------------

template <class T>
class FarthestPass {
 public:
  static constexpr const char* kName = "farthest_point";
  static constexpr Index kReadings = 0;
  using Result = FarPoint;

  FarthestPass(const Points<T>& points, const Matrix& centers, const std::vector<char>& may_lose, double least,
               const RowLabels& fixed, const RowLabels& labels, Index first = 0)
      : points_(points),
        centers_(centers),
        may_lose_(may_lose),
        least_(least),
        fixed_(fixed),
        labels_(labels),
        first_(first) {}
  auto given() const {
    return std::tuple<const Points<T>&, const Matrix&, const std::vector<char>&, double, const RowLabels&,
                      const RowLabels&, FirstRow>(points_, centers_, may_lose_, least_, fixed_, labels_,
                                                  FirstRow{first_});
  }
  Index result_size() const { return points_.dims(); }

  FarPoint whole(Context&) const {
    FarPoint out;
    out.distance = least_;
    for (Index i = 0; i < points_.rows(); ++i) {
      const std::int32_t own = labels_.values[i];
      if (own < 0 || !may_lose_[own] || (!fixed_.empty() && fixed_.values[i] >= 0) || points_.weight(i) == 0) continue;
      double distance = 0;
      for (Index j = 0; j < points_.dims(); ++j) {
        const double delta = static_cast<double>(points_.at(i, j)) - centers_(own, j);
        distance += delta * delta;
      }
      if (distance > out.distance) out = {i, own, distance, {}};
    }
    if (out.row < 0) return out;
    for (Index j = 0; j < points_.dims(); ++j) out.point.push_back(static_cast<double>(points_.at(out.row, j)));
    out.row += first_;
    return out;
  }
  static void merge(FarPoint& into, FarPoint&& from) {
    if (from.row >= 0 && (into.row < 0 || from.distance > into.distance)) into = std::move(from);
  }
  bool fits(const FarPoint& far) const {
    return far.row < 0 || (far.row < points_.rows() && far.label >= 0 && far.label < centers_.rows() &&
                           static_cast<Index>(far.point.size()) == points_.dims());
  }
  void check_arguments() const {
    const Index clusters = static_cast<Index>(may_lose_.size());
    require(has_shape(centers_, clusters, points_.dims()), ErrorCode::internal, "centers of a chunk: ", centers_.rows(),
            " of ", centers_.cols(), " numbers, need ", clusters, " of ", points_.dims());
    if (!fixed_.empty()) require_labels(fixed_, points_, clusters);
    require_labels(labels_, points_, clusters);
  }

 private:
  const Points<T>& points_;
  const Matrix& centers_;
  const std::vector<char>& may_lose_;
  const double least_;
  const RowLabels &fixed_, &labels_;
  const Index first_;
};

class GatherLabelsPass {
 public:
  static constexpr const char* kName = "gather_labels";
  static constexpr Index kReadings = 0;
  using Result = std::vector<int>;

  explicit GatherLabelsPass(const RowLabels& labels, Index rows = 0, Index clusters = 0)
      : labels_(labels), rows_(rows), clusters_(clusters) {}
  auto given() const { return std::tie(labels_); }
  Index row_count() const { return rows_; }
  bool fits(const std::vector<int>& labels) const { return are_labels(labels, clusters_); }

  std::vector<int> whole(Context&) const { return {labels_.values.begin(), labels_.values.end()}; }

 private:
  const RowLabels& labels_;
  const Index rows_, clusters_;
};

}  // namespace

template <class T>
ClusterSums sum_clusters(const Points<T>& points, Index clusters, RowLabels& labels, Context& context) {
  return reduce(SumClustersPass<T>(points, clusters, labels), context);
}

template <class T>
ClusterSums assign_points(const Points<T>& points, const KernelCenters<T>& centers, const RowLabels& fixed,
                          RowLabels& labels, std::vector<ClusterSums>& changes, Context& context) {
  return reduce(AssignPass<T>(points, centers.g, centers.norm, fixed, labels, &changes), context);
}

template <class T>
FarPoint farthest_point(const Points<T>& points, const Matrix& centers, const std::vector<char>& may_lose, double least,
                        const RowLabels& fixed, const RowLabels& labels, Context& context) {
  return reduce(FarthestPass<T>(points, centers, may_lose, least, fixed, labels), context);
}

std::vector<int> gather_labels(const RowLabels& labels, Index rows, Index clusters, Context& context) {
  return reduce(GatherLabelsPass(labels, rows, clusters), context);
}

template ClusterSums sum_clusters(const Points<double>&, Index, RowLabels&, Context&);
template ClusterSums sum_clusters(const Points<float>&, Index, RowLabels&, Context&);
template ClusterSums assign_points(const Points<double>&, const KernelCenters<double>&, const RowLabels&, RowLabels&,
                                   std::vector<ClusterSums>&, Context&);
template ClusterSums assign_points(const Points<float>&, const KernelCenters<float>&, const RowLabels&, RowLabels&,
                                   std::vector<ClusterSums>&, Context&);
template FarPoint farthest_point(const Points<double>&, const Matrix&, const std::vector<char>&, double,
                                 const RowLabels&, const RowLabels&, Context&);
template FarPoint farthest_point(const Points<float>&, const Matrix&, const std::vector<char>&, double,
                                 const RowLabels&, const RowLabels&, Context&);

std::vector<WirePass> point_passes() {
  return {wire_pass<ProjectPass>(),        wire_pass<TakePointsPass>(),       wire_pass<SumClustersPass<double>>(),
          wire_pass<AssignPass<double>>(), wire_pass<FarthestPass<double>>(), wire_pass<GatherLabelsPass>()};
}

}  // namespace tamis
