// Every method by name, with its options behind one face, so that no door lists methods or options by hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
#include "tamis/select/plan.h"
#include "tamis/select/selection.h"

namespace tamis {

// One method with its options, ready to be set and run.
class BoundMethod {
 public:
  virtual ~BoundMethod() = default;
  virtual Options options() = 0;  // points into this object
  // Classes of the rows (-1: unlabelled) for a method that can be supervised; Error(usage) otherwise.
  virtual bool takes_classes() const { return false; }
  virtual void supervise(const std::vector<int>& classes) = 0;
  // A first label matrix (n x clusters, >= 0) instead of the one from k-means; Error(usage) where there is none.
  virtual bool takes_init() const { return false; }
  virtual void start_from(const Matrix& init);
  // Whether the method itself says how many features are worth taking (Guidance::suggested).
  virtual bool chooses_count() const { return false; }
  // Columns that the caller will take in any case, for a method that counts repetition against them.
  virtual void force(const std::vector<Index>& columns) { static_cast<void>(columns); }
  // Before anything else reads the source: a method that looks at a sample draws it now, in the pass that computes the
  // moments. run() then gets the same rows, perhaps scaled.
  virtual void draw(const Source& source, Context& context) {
    static_cast<void>(source);
    static_cast<void>(context);
  }
  // How many features the caller will take, for a method that works towards that number (mcfs).
  virtual bool aims() const { return false; }
  virtual void aim_at(Index features) { static_cast<void>(features); }
  // How a run on a table of that shape will go, and what it costs.
  virtual Plan plan(const Shape& shape, int threads) const = 0;
  virtual Selection run(const Source& source, Context& context) const = 0;
};

struct Method {
  std::string name;         // "ufcm"
  std::string python_name;  // "UFCM"
  std::string summary;      // one line
  std::string formula;      // the definition in plain text
  std::string reference;    // the paper
  std::unique_ptr<BoundMethod> (*bind)();
  bool resumes = false;  // keeps its state (Context::keeper), and takes it up again
};

const std::vector<Method>& methods();
// Throws Error(usage) that lists the names there are.
const Method& find_method(const std::string& name);

}  // namespace tamis
