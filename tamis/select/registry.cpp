#include "tamis/select/registry.h"

#include "tamis/base/error.h"
#include "tamis/base/text/nearest.h"
#include "tamis/select/css/css.h"
#include "tamis/select/guided/guided.h"
#include "tamis/select/methods/fspca.h"
#include "tamis/select/methods/lapscore.h"
#include "tamis/select/methods/maxvar.h"
#include "tamis/select/methods/mcfs.h"
#include "tamis/select/methods/ndfs.h"
#include "tamis/select/methods/sparsekm.h"
#include "tamis/select/methods/spcafs.h"
#include "tamis/select/methods/spec.h"
#include "tamis/select/methods/udfs.h"
#include "tamis/select/rufs/rufs.h"
#include "tamis/select/ufcm/ufcm.h"

namespace tamis {

const std::vector<Method>& methods() {
  // In the order in which they are listed and compared.
  static const std::vector<Method> table = {
      guided_method(), ufcm_method(), maxvar_method(),   lapscore_method(), spec_method(),
      mcfs_method(),   ndfs_method(), rufs_method(),     udfs_method(),     spcafs_method(),
      fspca_method(),  css_method(),  sparsekm_method(),
  };
  return table;
}

const Method& find_method(const std::string& name) {
  std::string known;
  std::vector<std::string> names;
  for (const auto& method : methods()) {
    if (method.name == name) return method;
    known += (known.empty() ? "" : ", ") + method.name;
    names.push_back(method.name);
  }
  fail(ErrorCode::usage, "method = ", name, ", need one of: ", known, did_you_mean(name, names));
}

namespace {

template <class Can>
std::string names_where(Can can) {
  std::string names;
  for (const auto& method : methods()) {
    if (can(method)) names += (names.empty() ? "" : ", ") + method.name;
  }
  return names;
}

}  // namespace

std::string methods_that(bool Method::*can) {
  return names_where([=](const Method& method) { return method.*can; });
}

std::string methods_that(bool (BoundMethod::*can)() const) {
  return names_where([=](const Method& method) { return ((*method.bind()).*can)(); });
}

}  // namespace tamis
