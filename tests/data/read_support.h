// What the reader tests share: files in a folder of their own, values of a source, and the error a call ends with.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tamis/base/error.h"
#include "tamis/data/table.h"

namespace tamis {

// A folder that goes with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tamis-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string path(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

 private:
  std::string path_;
};

inline double cell(const DenseView& view, Index i, Index j) {
  const Index k = i * view.row_stride + j * view.col_stride;
  return with_type(view.dtype, [&]<class T>() { return static_cast<double>(static_cast<const T*>(view.data)[k]); });
}

using Rows = std::vector<std::vector<double>>;

inline Rows values(const Source& source) {
  Rows out(source.rows(), std::vector<double>(source.cols()));
  for (Index b = 0; b < source.store().block_count(); ++b) {
    const Block block = source.store().block(b);
    for (Index i = 0; i < block.rows; ++i) {
      std::vector<double>& row = out[block.first + i];
      if (!block.sparse) {
        for (Index j = 0; j < block.dense.cols; ++j) row[j] = cell(block.dense, i, j);
        continue;
      }
      for (Index e = block.csr.offsets[i]; e < block.csr.offsets[i + 1]; ++e) {
        row[block.csr.columns[e]] = block.csr.value(e);
      }
    }
  }
  return out;
}

// The message of the Error that `call` ends with; fails unless it has this code and is one line.
template <class Call>
std::string error_of(ErrorCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    const std::string message = error.what();
    EXPECT_EQ(message.find_first_of("\n\r\x1b"), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "no error";
  return "";
}

// A raw deflate stream, or with `window` = MAX_WBITS + 16 a gzip file.
inline std::string deflated(const std::string& bytes, int window = -MAX_WBITS) {
  z_stream state = {};
  deflateInit2(&state, 9, Z_DEFLATED, window, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&state, bytes.size()) + 64, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state.avail_in = static_cast<uInt>(bytes.size());
  state.next_out = reinterpret_cast<Bytef*>(out.data());
  state.avail_out = static_cast<uInt>(out.size());
  deflate(&state, Z_FINISH);
  out.resize(state.total_out);
  deflateEnd(&state);
  return out;
}
inline std::string gzipped(const std::string& bytes) { return deflated(bytes, MAX_WBITS + 16); }

// Little-endian bytes of a number.
template <class T>
std::string raw(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// An .npy file; `dict` is the header's dictionary without padding.
inline std::string npy_bytes(const std::string& dict, const std::string& payload, int version = 1) {
  std::string header = dict;
  while ((header.size() + (version == 1 ? 11 : 13)) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  out += version == 1 ? raw(static_cast<std::uint16_t>(header.size())) : raw(static_cast<std::uint32_t>(header.size()));
  return out + header + payload;
}

inline std::string npy_dict(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

template <class T>
std::string npy_of(const std::string& descr, const std::string& shape, const std::vector<T>& numbers,
                   bool fortran = false) {
  std::string payload;
  for (const T number : numbers) payload += raw(number);
  return npy_bytes(npy_dict(descr, shape, fortran), payload);
}

}  // namespace tamis
