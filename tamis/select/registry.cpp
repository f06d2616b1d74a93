#include "tamis/select/registry.h"

#include "tamis/base/error.h"
#include "tamis/select/ufcm.h"

namespace tamis {

namespace {

// Ties an options struct, its description and its function together.
template <class MethodOptions, Selection (*function)(const Source&, const MethodOptions&, Context&)>
class Bound final : public BoundMethod {
 public:
  Options options() override { return describe(options_); }

  void supervise(const std::vector<int>& classes) override {
    if constexpr (requires { options_.labels; }) {
      options_.labels = classes;
    } else {
      fail(ErrorCode::usage, "supervise: this method takes no labels");
    }
  }

  void aim_at([[maybe_unused]] Index features) override {
    if constexpr (requires { options_.features; }) options_.features = features;
  }

  Selection run(const Source& source, Context& context) const override { return function(source, options_, context); }

 private:
  MethodOptions options_;
};

template <class MethodOptions, Selection (*function)(const Source&, const MethodOptions&, Context&)>
std::unique_ptr<BoundMethod> bind() {
  return std::make_unique<Bound<MethodOptions, function>>();
}

}  // namespace

const std::vector<Method>& methods() {
  static const std::vector<Method> table = {
      {"ufcm", "UFCM", "maximum margin, embedded k-means and row sparsity",
       "maximise tr(W'SW) - alpha ||XW - UG||^2 - beta sum_i ||w^i||^p over W'W = I, U, G; score_i = ||w^i||",
       "Wang, Nie, Chang, Yao, Li & Sheng: Unsupervised Feature Analysis with Class Margin Optimization. ECML PKDD "
       "2015",
       bind<UfcmOptions, ufcm>},
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
