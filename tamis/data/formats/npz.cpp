#include "tamis/data/formats/npz.h"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/data/formats/npy.h"
#include "tamis/data/formats/zip.h"
#include "tamis/data/stores/csr.h"

namespace tamis {
namespace {

// Copies whole numbers of low..high, low >= 0; returns the position of the first that is not one, or `count`.
template <class T>
Index copy_integers(const NpyArray& from, Index count, Index low, Index high, T* to) {
  bool good = false;
  with_type(from.dtype, [&]<class Stored>() {
    if constexpr (std::is_integral_v<Stored>) {
      const auto* values = from.buffer.as<Stored>();
      bool outside = false;
      for (Index i = 0; i < count; ++i) {
        const auto value = static_cast<std::int64_t>(values[i]);  // negative where it does not fit
        outside |= value < low || value > high;
        to[i] = static_cast<T>(value);
      }
      good = !outside;
    }
  });
  if (good) return count;
  for (Index i = 0; i < count; ++i) {  // perhaps they are whole numbers stored as doubles
    std::int64_t value = 0;
    if (!integer_at(from, i, value) || value < low || value > high) return i;
    to[i] = static_cast<T>(value);
  }
  return count;
}

template <class T>
void copy_numbers(const NpyArray& from, T* to) {
  with_type(from.dtype, [&]<class Stored>() {
    const auto* values = from.buffer.as<Stored>();
    for (Index i = 0; i < from.count; ++i) to[i] = static_cast<T>(static_cast<double>(values[i]));
  });
}

class NpzReader {
 public:
  NpzReader(ZipArchive&& archive, const ReadOptions& options, Context& context)
      : archive_(std::move(archive)), options_(options), context_(context) {}

  Reading read() {
    Reading reading;
    reading.table.format = "npz";
    reading.label_choices = array_names();
    const std::string array = chosen_array(reading.label_choices);
    if (array.empty()) {
      reading.table.source = read_sparse();
    } else {
      reading.table.source = read_npy_matrix(*open(array), options_.transpose, false, context_);
    }
    for (const std::string& spec : options_.labels) {
      if (!has(spec)) continue;
      reading.table.labels[spec] = read_npy_labels(*open(spec), reading.table.source.rows(), context_);
    }
    return reading;
  }

 private:
  std::vector<std::string> array_names() const {
    std::vector<std::string> names;
    for (const ZipEntry& entry : archive_.entries()) {
      if (entry.name.ends_with(".npy")) names.push_back(entry.name.substr(0, entry.name.size() - 4));
    }
    return names;
  }

  bool has(const std::string& name) const { return archive_.find(name + ".npy") != nullptr; }
  std::unique_ptr<ByteStream> open(const std::string& name) const {
    const ZipEntry* entry = archive_.find(name + ".npy");
    require(entry != nullptr, ErrorCode::bad_data, archive_.where(), ": no array ", printable(name), ", it has ",
            listed(array_names()));
    return archive_.open(*entry, context_);
  }

  // The dense array to read, or "" for a sparse matrix. Where the default name is missing, the only array that is
  // not a label will do (np.savez without names).
  std::string chosen_array(const std::vector<std::string>& names) const {
    if (has(options_.array)) return options_.array;
    const bool by_default = options_.array == ReadOptions().array;
    if (by_default && has("format") && has("shape") && has("data")) return "";
    std::vector<std::string> others;
    for (const std::string& name : names) {
      if (std::find(options_.labels.begin(), options_.labels.end(), name) == options_.labels.end()) {
        others.push_back(name);
      }
    }
    if (by_default && others.size() == 1) return others[0];
    require(!names.empty(), ErrorCode::bad_data, archive_.where(), ": no arrays");
    fail(ErrorCode::usage, archive_.where(), ": no array ", printable(options_.array), ", ", Flag{"array"},
         " takes one of ", listed(names));
  }

  Source read_sparse() const {
    const std::string word = read_npy_word(*open("format"));
    require(word == "csr" || word == "csc" || word == "coo", ErrorCode::bad_data, archive_.where(), ": sparse format ",
            in_quotes(word), ", need csr, csc or coo");
    Budget budget(context_, archive_.where());
    const NpyArray shape = read_npy_array(*open("shape"), budget);
    Index rows = 0;
    Index cols = 0;
    require(shape.count == 2 && integer_at(shape, 0, rows) && integer_at(shape, 1, cols) && rows >= 0 && cols >= 0,
            ErrorCode::bad_data, archive_.where(), ": bad shape of the sparse matrix, need two counts");
    require_shape(archive_.where(), options_.transpose ? cols : rows, options_.transpose ? rows : cols);
    NpyArray data = read_npy_array(*open("data"), budget);
    require_sparse_shape(archive_.where(), rows, cols, static_cast<std::uint64_t>(data.count), context_);
    if (word == "coo") return read_coo(data, rows, cols, budget);
    // The columns of a matrix are the rows of its transpose.
    const bool by_columns = word == "csc";
    if (by_columns) std::swap(rows, cols);
    const bool turn = by_columns != options_.transpose;
    if (data.dtype == DType::f32) return read_compressed<float>(std::move(data), rows, cols, turn, budget);
    return read_compressed<double>(std::move(data), rows, cols, turn, budget);
  }

  NpyArray read_array(const std::string& name, Index count, Budget& budget) const {
    NpyArray array = read_npy_array(*open(name), budget);
    require(array.count == count, ErrorCode::bad_data, archive_.where(), ": ", name, " has ", array.count,
            " numbers, need ", count);
    return array;
  }

  template <class T>
  std::vector<T> read_integers(const std::string& name, Index count, Index low, Index high, Budget& budget) const {
    return integers<T>(read_array(name, count, budget), name, low, high, budget);
  }

  // All of them, of low..high, out of an array that was taken from the budget and is given back to it.
  template <class T>
  std::vector<T> integers(const NpyArray& array, const std::string& name, Index low, Index high, Budget& budget) const {
    const Index count = array.count;
    budget.take(static_cast<std::uint64_t>(count) * sizeof(T));
    std::vector<T> out(count);
    const Index good = copy_integers(array, count, low, high, out.data());
    require(good == count, ErrorCode::bad_data, archive_.where(), ": ", name, "[", good, "] must be an integer in ",
            low, "..", high);
    budget.give_back(array.buffer.size());
    return out;
  }

  template <class T>
  Source read_compressed(NpyArray data, Index rows, Index cols, bool turn, Budget& budget) const {
    Csr<T> csr;
    csr.rows = rows;
    csr.cols = cols;
    csr.offsets = read_integers<std::int64_t>("indptr", rows + 1, 0, data.count, budget);
    require(csr.offsets[0] == 0 && std::is_sorted(csr.offsets.begin(), csr.offsets.end()) &&
                csr.offsets.back() == data.count,
            ErrorCode::bad_data, archive_.where(), ": indptr must rise from 0 to ", data.count, " in ", rows + 1,
            " steps");
    NpyArray indices = read_array("indices", data.count, budget);
    if (!turn && are_of<T>(csr.offsets, indices, data, cols)) {
      require_sparse_shape(archive_.where(), rows, cols, static_cast<std::uint64_t>(data.count), context_);
      return source_of(std::move(csr.offsets), std::move(indices), std::move(data), cols);
    }
    csr.columns = integers<std::int32_t>(indices, "indices", 0, cols - 1, budget);
    indices = {};
    budget.take(static_cast<std::uint64_t>(data.count) * sizeof(T));
    csr.values.resize(data.count);
    copy_numbers(data, csr.values.data());
    csr.make_canonical();
    require_sparse_shape(archive_.where(), rows, cols, csr.values.size(), context_);  // without the zeros among them
    if (turn) budget.require(csr.values.size() * (sizeof(T) + 4) + static_cast<std::uint64_t>(cols + 1) * 16);
    return turn ? to_source(csr.transposed()) : to_source(std::move(csr));
  }

  static CsrView view_of_arrays(const std::vector<std::int64_t>& offsets, const NpyArray& indices, const NpyArray& data,
                                Index cols) {
    return {std::ssize(offsets) - 1, cols,      offsets.data(), indices.buffer.as<std::int32_t>(),
            data.buffer.data(),      data.dtype};
  }

  // Whether the arrays of the file are rows as a store holds them, with values of type T.
  template <class T>
  static bool are_of(const std::vector<std::int64_t>& offsets, const NpyArray& indices, const NpyArray& data,
                     Index cols) {
    constexpr DType kWanted = sizeof(T) == sizeof(double) ? DType::f64 : DType::f32;
    return indices.dtype == DType::i32 && data.dtype == kWanted &&
           is_canonical<T>(view_of_arrays(offsets, indices, data, cols));
  }

  static Source source_of(std::vector<std::int64_t> offsets, NpyArray indices, NpyArray data, Index cols) {
    struct Arrays {
      std::vector<std::int64_t> offsets;
      NpyArray indices, data;
    };
    const auto owner = std::make_shared<const Arrays>(Arrays{std::move(offsets), std::move(indices), std::move(data)});
    return Source(make_sparse_store(view_of_arrays(owner->offsets, owner->indices, owner->data, cols), owner));
  }

  Source read_coo(const NpyArray& data, Index rows, Index cols, Budget& budget) const {
    auto row = read_integers<std::int32_t>("row", data.count, 0, rows - 1, budget);
    auto col = read_integers<std::int32_t>("col", data.count, 0, cols - 1, budget);
    if (options_.transpose) {
      std::swap(row, col);
      std::swap(rows, cols);
    }
    CsrBuilder builder(budget);
    builder.reserve(row.size());
    for (std::size_t i = 0; i < row.size(); ++i) builder.add(row[i], col[i], number_at(data, static_cast<Index>(i)));
    require_sparse_shape(archive_.where(), rows, cols, builder.entries(), context_);
    return to_source(builder.finish(rows, cols));
  }

  ZipArchive archive_;
  const ReadOptions& options_;
  Context& context_;
};

}  // namespace

Reading read_npz(std::unique_ptr<RandomBytes> bytes, const ReadOptions& options, Context& context) {
  return NpzReader(ZipArchive(std::move(bytes)), options, context).read();
}

}  // namespace tamis
