// What the paper's experiments are (Wang et al., ECML PKDD 2015): its six data sets as files, the values it printed,
// and the protocol, which it leaves open in places and which is fixed here. docs/reproduction.md tells it in prose.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/table.h"
#include "tamis/run/settings.h"

namespace tamis {

// --- Data -------------------------------------------------------------------------------------------------------

// One set of Table 1. NAME.npz holds X (n x d) and y (n classes 0..C-1, int32).
struct ExpectedSet {
  std::string name, title;  // of the file, in the paper
  Index rows, features, classes;
  DType dtype;  // of X
  Index image_rows, image_columns;
  bool column_major;        // pixel (i, j) is feature i + image_rows * j, else j + image_columns * i
  Index paper_rows;         // of Table 1
  std::string sha256_x;     // of the numbers of X, row after row, as they stand in memory
  std::string sha256_y;     // of y
  std::string sha256_file;  // of the whole file as it was made first
  std::string origin;       // public repository: path
  std::string limits;       // what is known to be odd about it; may be empty
};
const std::vector<ExpectedSet>& expected_sets();                // in the order of Table 1
const ExpectedSet* find_expected_set(const std::string& name);  // null: none of them

// A set as it was found.
struct ExperimentSet {
  std::string name;
  const ExpectedSet* expected = nullptr;  // null where it is none of Table 1
  Source source;                          // scaled: uint8 / 255, all else as it is
  std::vector<int> classes;
  Index class_count = 0;
  DType dtype = DType::f64;
  std::string sha256;  // of type, shape, numbers and classes
};

// DIR/NAME.npz. Throws Error(usage) on a name that is no plain file name.
std::string path_of_set(const std::string& folder, const std::string& name);
// Throws what the reader throws, and Error(bad_data) where a set of Table 1 is not the one expected.
ExperimentSet read_experiment_set(const std::string& folder, const std::string& name, Context& context);

// What is wrong with a table that should be `expected`, in one line; empty where nothing is.
std::string difference_from(const ExpectedSet& expected, const Table& table);
std::string sha256_of_numbers(const Table& table);
std::string sha256_of_classes(const std::vector<int>& classes);

// The methods of the paper's tables.
std::vector<Method> paper_methods();

// --- What the paper printed -------------------------------------------------------------------------------------

enum class Measure { accuracy, nmi };

struct PaperValue {
  double mean, sd;
};
// Tables 2 and 3; `method` as in the registry, or "allfea". Unset where the paper has none.
std::optional<PaperValue> paper_value(Measure measure, const std::string& set, const std::string& method);
inline constexpr Index kPaperIterations = 8;  // "usually within eight iteration steps"

// --- The protocol -----------------------------------------------------------------------------------------------

struct Protocol {
  bool quick = false;
  std::vector<double> shares;        // of d: the sizes of subsets
  double chosen_share = 0.5;         // at which the label-free choice is reported
  Index repeats = 5;                 // single k-means++ starts of every subset
  Index subsets = 20;                // random ones of each size
  Index neighbors = 5;               // of every graph
  Index most_rows = 0;               // larger sets are sampled down to so many rows; 0: never
  std::vector<std::string> figure2;  // values of beta at alpha = p = 1
  std::vector<GridAxis> axes;        // of the methods' grids
};
Protocol full_protocol();
Protocol quick_protocol();
inline constexpr int kProtocolVersion = 1;  // of all that a cell's numbers depend on besides its key

// The sizes for d features: shares rounded to the nearest count, at least 1, each once, increasing.
std::vector<Index> sizes_of(const Protocol& protocol, Index features);
Index chosen_size(const Protocol& protocol, Index features);

// Settings of a method's grid; one empty one where the method has nothing to tune.
std::vector<Settings> grid_settings(const Protocol& protocol, const std::string& method);
// UFCM's runs of Figure 2; the one at beta = 1 is Figure 5's. Figures 3 and 4 are parts of the grid.
std::vector<Settings> figure_settings(const Protocol& protocol, const std::string& method);
inline constexpr const char* kFigure3Beta = "0.1";
inline constexpr const char* kFigure4Alpha = "0.1";

}  // namespace tamis
