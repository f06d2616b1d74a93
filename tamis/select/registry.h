// Every method by name, with its options behind one face, so that no door lists methods or options by hand.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/base/options.h"
#include "tamis/data/source.h"
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
  // How many features the caller will take, for a method that works towards that number (mcfs).
  virtual void aim_at(Index features) { static_cast<void>(features); }
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
