// NumPy's .npy format, versions 1.0 to 3.0. Pickled objects are never read.
#pragma once

#include <string>
#include <vector>

#include "tamis/base/memory.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/table.h"

namespace tamis {

struct NpyHeader {
  char kind = 'f';       // as in NumPy: f, i, u, b, and U, S where labels may be text
  std::size_t item = 0;  // bytes an element
  bool swapped = false;  // big-endian
  bool fortran = false;  // first index fastest
  std::vector<Index> shape;
  Index count = 0;  // product of the shape
};

// Reads and checks the header; Error(bad_data) for anything but plain numbers, booleans and text.
NpyHeader read_npy_header(ByteStream& bytes);

struct NpyArray {
  Buffer buffer;
  DType dtype = DType::f64;
  bool fortran = false;
  std::vector<Index> shape;
  Index count = 0;
};

// Numbers, read straight into one buffer: float16 widened to f32, bool to u8, bytes swapped in place. The size the
// header claims is compared with the size of the stream before anything is allocated, and taken from the budget.
NpyArray read_npy_array(ByteStream& bytes, Budget& budget);
// The text ('S', 'U') of an array of one, as UTF-8; "" for any other array.
std::string read_npy_word(ByteStream& bytes);

// A table of two dimensions, rows and columns swapped by strides where it is to be transposed. With `map` a file that
// holds the numbers as they are needed is mapped, not copied.
Source read_npy_matrix(ByteStream& bytes, bool transpose, bool map, Context& context);
// One label a row: text, or numbers as their shortest text.
Labels read_npy_labels(ByteStream& bytes, Index rows, Context& context);

// Element i as a double, or as an integer (false where it is not one).
double number_at(const NpyArray& array, Index i);
bool integer_at(const NpyArray& array, Index i, std::int64_t& value);

// Error(bad_data) unless it has two dimensions.
void require_matrix(const std::string& where, const NpyHeader& header);
// Error(bad_data) unless there are at least 2 rows and 1 column.
void require_shape(const std::string& where, Index rows, Index cols);

}  // namespace tamis
