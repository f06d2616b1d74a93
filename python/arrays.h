// Between Python's arrays and the core's tables, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tamis/data/source.h"
#include "tamis/linalg/matrix.h"

namespace tamis::python {

namespace nb = nanobind;

// Keeps a Python object alive, and lets go of it with the GIL held, wherever that may be.
std::shared_ptr<const void> lease_of(const nb::handle& object);
// What it keeps; the GIL must be held.
nb::object object_of(const std::shared_ptr<const void>& lease);

// A 2-D NumPy array, or (offsets int64, columns int32, values f32 or f64, number of columns) of compressed sparse rows,
// or RemoteRows (remote.h), or DiskRows (row_sink.h). The source holds a lease of it.
Source source_of(const nb::object& data);

// One class a row (-1: none); nothing where None was given.
using Classes = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
std::vector<int> classes_of(const std::optional<Classes>& classes);

// A 2-D array of doubles, copied.
Matrix matrix_of(const nb::object& data);

// A 1-D array of doubles, copied.
std::vector<double> doubles_of(const nb::object& data);

// NumPy arrays that own what they are given.
nb::object to_array(std::vector<double> values);
nb::object to_array(std::vector<Index> values);
nb::object to_array(std::vector<int> values);
nb::object to_array(std::vector<std::uint8_t> values);
nb::object to_array(Matrix matrix);  // None where it is empty

// A NumPy array, or (offsets, columns, values, number of columns), that shows the rows of a source in memory. A source
// that is a choice of its store's columns, or scales them, is not shown but copied.
nb::object view_of(const Source& source);

// Python's text for bytes that may be no UTF-8 (surrogateescape), and back.
nb::object to_text(const std::string& bytes);
std::string to_bytes(const nb::handle& text);

}  // namespace tamis::python
