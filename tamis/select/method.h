// One method as every interface sees it: what it is called and does, what it can, and how it is set, planned and run.
// Flags, help, Python classes, comparisons and pages are made of this, so that none of them knows a method by name.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/error.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/groups.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

// One method with its options, ready to be set and run.
class BoundMethod {
 public:
  virtual ~BoundMethod() = default;
  // The same options, apart from this object.
  virtual std::unique_ptr<BoundMethod> copy() const = 0;
  virtual Options options() = 0;  // points into this object
  // Classes of the rows (-1: unlabeled) for a method that can be supervised.
  virtual bool takes_classes() const { return false; }
  virtual void supervise(const std::vector<int>& classes) = 0;
  // A first label matrix (n x clusters, >= 0) instead of the one from k-means.
  virtual bool takes_init() const { return false; }
  virtual void start_from(const Matrix& init) { static_cast<void>(init); }
  // Whether the method itself says how many features are worth taking (Guidance::suggested).
  virtual bool chooses_count() const { return false; }
  // Columns that the caller will take in any case, for a method that counts repetition against them.
  virtual void force(const std::vector<Index>& columns) { static_cast<void>(columns); }
  // Columns that are chosen as one, for a method that has a definition of that; the caller ranks the groups of another
  // (rank_groups_by_mean_square). What the method aims at then counts groups.
  virtual bool takes_groups() const { return false; }
  virtual void group(const ColumnGroups& groups) { static_cast<void>(groups); }
  // A graph of the rows in place of the one that the method would make.
  virtual bool takes_graph() const { return false; }
  virtual void connect(const std::shared_ptr<const Graph>& graph) { static_cast<void>(graph); }
  // Whether it divides columns by their deviations itself, so that their units do not matter.
  virtual bool standardizes() const { return false; }
  // The caller scales the columns its own way: it does not.
  virtual void keep_units() {}
  // Before anything else reads the source: a method that looks at a sample draws it now, in the pass that computes the
  // moments. run() then gets the same rows, perhaps scaled.
  virtual void draw(const Source& source, Context& context) {
    static_cast<void>(source);
    static_cast<void>(context);
  }
  // How many features the caller will take. A method aims where its order depends on that number (mcfs); another may
  // just stop there (css).
  virtual bool aims() const { return false; }
  virtual void aim_at(Index features) { static_cast<void>(features); }
  // How a run on a table of that shape will go, and what it costs.
  virtual Plan plan(const Shape& shape, int threads) const = 0;
  virtual Selection run(const Source& source, Context& context) const = 0;
};

// Values of an option that a comparison tries where a grid is asked for.
struct OptionGrid {
  std::string option;
  std::vector<std::string> values;
};

// How a page tells why a feature ranks where it does.
struct Reasons {
  std::string text = {};           // above the ranking; empty: that the score is the whole reason
  std::string column = {};         // what a column of Selection::components is, as "cluster"
  bool centers_by_column = false;  // Selection::centers has a number for each of these columns, not for each feature
};

// The metric in which every row is in the cluster whose mean is nearest, so that other rows have a cluster, too.
enum class ClusterMetric {
  none,        // there are no clusters, or they come otherwise
  directions,  // ||(x - m)W||, W = Selection::components
  scores,      // sum_j score_j (x_j - m_j)^2
};

struct Method {
  std::string name;         // "ufcm"
  std::string python_name;  // "UFCM"
  std::string summary;      // one line
  std::string formula;      // the definition in plain text
  std::string reference;    // the paper
  std::unique_ptr<BoundMethod> (*bind)() = nullptr;
  bool resumes = false;               // saves checkpoints (Context::checkpoint), and resumes from them
  bool is_order = false;              // its scores say nothing but the order
  bool one_pass = false;              // reads the rows once
  bool scores_are_variances = false;  // which equal deviations would make equal
  bool seeded = true;                 // draws random numbers
  bool weighs = false;                // uses the weights of rows (Source::weights)
  bool remote = false;                // makes no pass that cannot run where the rows are (data/stores/remote.h)
  ClusterMetric metric = ClusterMetric::none;
  bool in_paper = false;     // stands in the tables of the paper that UFCM comes from
  std::string same_as = {};  // ranks as that method does by default, so a comparison has it only where it is asked for
  std::vector<OptionGrid> grid = {};
  Reasons reasons = {};
};

// Ties an options struct, its description, its plan and its function together.
template <class MethodOptions, class MethodPlan, Selection (*function)(const Source&, const MethodOptions&, Context&)>
class Bound final : public BoundMethod {
 public:
  std::unique_ptr<BoundMethod> copy() const override { return std::make_unique<Bound>(*this); }
  Options options() override { return describe(options_); }

  bool takes_classes() const override {
    return requires(MethodOptions o) { o.labels; };
  }
  void supervise([[maybe_unused]] const std::vector<int>& classes) override {
    if constexpr (requires { options_.labels; }) options_.labels = classes;
    // Where every row has a label, none is left for further clusters.
    const bool whole = !classes.empty() && std::ranges::find(classes, -1) == classes.end();
    if constexpr (requires(MethodOptions o) { o.labels, o.clusters; }) {
      const Index most = whole ? *std::ranges::max_element(classes) + 1 : options_.clusters;
      options_.clusters = std::min<Index>(options_.clusters, most);
    }
  }

  bool takes_init() const override {
    return requires(MethodOptions o) { o.init; };
  }
  void start_from([[maybe_unused]] const Matrix& init) override {
    if constexpr (requires { options_.init; }) options_.init = init;
  }

  bool chooses_count() const override {
    if constexpr (requires { MethodOptions::kChoosesCount; }) return MethodOptions::kChoosesCount;
    return false;
  }
  void force([[maybe_unused]] const std::vector<Index>& columns) override {
    if constexpr (requires { options_.forced; }) options_.forced = columns;
  }

  bool takes_groups() const override {
    return requires(MethodOptions o) { o.groups; };
  }
  void group([[maybe_unused]] const ColumnGroups& groups) override {
    if constexpr (requires { options_.groups; }) options_.groups = groups;
  }

  bool takes_graph() const override {
    return requires(MethodOptions o) { o.graph.given; };
  }
  void connect([[maybe_unused]] const std::shared_ptr<const Graph>& graph) override {
    if constexpr (requires { options_.graph.given; }) options_.graph.given = graph;
  }

  bool standardizes() const override {
    if constexpr (requires { options_.standardize; }) return options_.standardize;
    return false;
  }
  void keep_units() override {
    if constexpr (requires { options_.standardize; }) options_.standardize = false;
  }

  void draw([[maybe_unused]] const Source& source, [[maybe_unused]] Context& context) override {
    if constexpr (requires { options_.drawn; }) options_.drawn = draw_sample(source, options_, context);
  }

  bool aims() const override {
    if constexpr (requires { options_.aims(); }) return options_.aims();
    return requires(MethodOptions o) { o.features; }
    &&!chooses_count();
  }
  void aim_at([[maybe_unused]] Index features) override {
    if constexpr (requires { options_.features; }) options_.features = features;
    if constexpr (requires { options_.length; }) options_.length = features;
  }

  Plan plan(const Shape& shape, int threads) const override { return MethodPlan(shape, options_, threads); }

  Selection run(const Source& source, Context& context) const override { return function(source, options_, context); }

 private:
  MethodOptions options_;
};

// For Method::bind.
template <class MethodOptions, class MethodPlan, Selection (*function)(const Source&, const MethodOptions&, Context&)>
std::unique_ptr<BoundMethod> bind() {
  return std::make_unique<Bound<MethodOptions, MethodPlan, function>>();
}

}  // namespace tamis
