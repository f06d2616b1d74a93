#include "tamis/select/registry.h"

#include "tamis/base/error.h"
#include "tamis/select/guided/guided.h"
#include "tamis/select/methods/lapscore.h"
#include "tamis/select/methods/maxvar.h"
#include "tamis/select/methods/mcfs.h"
#include "tamis/select/methods/ndfs.h"
#include "tamis/select/methods/spec.h"
#include "tamis/select/rufs/rufs.h"
#include "tamis/select/ufcm/plan.h"

namespace tamis {

namespace {

// Ties an options struct, its description, its plan and its function together.
template <class MethodOptions, class MethodPlan, Selection (*function)(const Source&, const MethodOptions&, Context&)>
class Bound final : public BoundMethod {
 public:
  Options options() override { return describe(options_); }

  bool takes_classes() const override {
    return requires(MethodOptions o) { o.labels; };
  }
  void supervise([[maybe_unused]] const std::vector<int>& classes) override {
    require(takes_classes(), ErrorCode::usage, "supervise: this method takes no labels");
    if constexpr (requires { options_.labels; }) options_.labels = classes;
  }

  bool takes_init() const override {
    return requires(MethodOptions o) { o.init; };
  }
  void start_from(const Matrix& init) override {
    if constexpr (requires { options_.init; }) {
      options_.init = init;
    } else {
      BoundMethod::start_from(init);
    }
  }

  bool chooses_count() const override {
    return requires(MethodOptions o) { o.forced; };
  }
  void force([[maybe_unused]] const std::vector<Index>& columns) override {
    if constexpr (requires { options_.forced; }) options_.forced = columns;
  }

  void draw([[maybe_unused]] const Source& source, [[maybe_unused]] Context& context) override {
    if constexpr (requires { options_.drawn; }) options_.drawn = draw_sample(source, options_, context);
  }

  bool aims() const override {
    return requires(MethodOptions o) { o.features; }
    &&!chooses_count();
  }
  void aim_at([[maybe_unused]] Index features) override {
    if constexpr (requires { options_.features; }) options_.features = features;
  }

  Plan plan(const Shape& shape, int threads) const override { return MethodPlan(shape, options_, threads); }

  Selection run(const Source& source, Context& context) const override { return function(source, options_, context); }

 private:
  MethodOptions options_;
};

template <class MethodOptions, class MethodPlan, Selection (*function)(const Source&, const MethodOptions&, Context&)>
std::unique_ptr<BoundMethod> bind() {
  return std::make_unique<Bound<MethodOptions, MethodPlan, function>>();
}

}  // namespace

void BoundMethod::start_from(const Matrix&) { fail(ErrorCode::usage, "init: this method starts from no labels"); }

const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
      {"guided", "GuidedUFCM", "UFCM's margin with clusters from graphs of rows; chooses the number of columns itself",
       "maximise sum_{j in S} x_j'(P - t I)x_j / ||X_S X_S'||_F greedily over columns with evidence; P = the mean of "
       "U(U'U)^-1U' over clusterings of graphs of nearest rows; score_j = (d - rank_j + 1) / d",
       "the margin: Wang, Nie, Chang, Yao, Li & Sheng, ECML PKDD 2015; guide, evidence and order: Tamis",
       bind<GuidedOptions, GuidedPlan, guided>},
      {"ufcm", "UFCM", "maximum margin, embedded k-means and row sparsity",
       "maximise tr(W'SW) - alpha ||XW - UG||^2 - beta sum_i ||w^i||^p over W'W = I, U, G; score_i = ||w^i||",
       "Wang, Nie, Chang, Yao, Li & Sheng: Unsupervised Feature Analysis with Class Margin Optimization. ECML PKDD "
       "2015",
       bind<UfcmOptions, UfcmPlan, ufcm>, true},
      {"maxvar", "MaxVariance", "largest variance", "score_j = variance of column j (n - 1)", "folklore",
       bind<MaxVarOptions, MaxVarPlan, maxvar>},
      {"lapscore", "LaplacianScore", "smooth on a graph of nearest rows",
       "score_j = 1 - (f'Lf) / (f'Df) for f less its weighted mean, L = D - W",
       "He, Cai & Niyogi: Laplacian Score for Feature Selection. NIPS 2005",
       bind<LapScoreOptions, LapScorePlan, lapscore>},
      {"spec", "SPEC", "agreement with the spectrum of a graph of nearest rows",
       "-phi1 = -fh'Ln fh, -phi2 = -phi1 / (1 - (fh'v)^2), phi3 = sum_k (2 - lambda_k) (fh'xi_k)^2, fh = D^1/2 f / "
       "||.||",
       "Zhao & Liu: Spectral Feature Selection for Supervised and Unsupervised Learning. ICML 2007",
       bind<SpecOptions, SpecPlan, spec>},
      {"mcfs", "MCFS", "sparse regression on the embedding of a graph of nearest rows",
       "score_j = max_k |a_kj|, a_k = lasso of y_k on X with m active columns, L y_k = lambda_k D y_k",
       "Cai, Zhang & He: Unsupervised Feature Selection for Multi-Cluster Data. KDD 2010",
       bind<McfsOptions, McfsPlan, mcfs>},
      {"ndfs", "NDFS", "nonnegative spectral labels and a row-sparse regression on them",
       "minimise tr(F'LF) + alpha (||XW - F||^2 + beta sum_j ||w_j||) over F >= 0, F'F = I, W; score_j = ||w_j||",
       "Li, Yang, Liu, Zhou & Lu: Unsupervised Feature Selection Using Nonnegative Spectral Analysis. AAAI 2012",
       bind<NdfsOptions, NdfsPlan, ndfs>},
      {"rufs", "RUFS", "robust regression on robustly learned nonnegative labels",
       "minimise ||X - GF||_21 + nu tr(G'LG) + alpha ||XW - G||_21 + beta ||W||_21 over F >= 0, G >= 0, G'G = I, W; "
       "score_j = ||w_j||",
       "Qian & Zhai: Robust Unsupervised Feature Selection. IJCAI 2013", bind<RufsOptions, RufsPlan, rufs>},
  };
  return table;
}

const Method& find_method(const std::string& name) {
  std::string known;
  for (const auto& method : methods()) {
    if (method.name == name) return method;
    known += (known.empty() ? "" : ", ") + method.name;
  }
  fail(ErrorCode::usage, "method = ", name, ", need one of: ", known);
}

}  // namespace tamis
