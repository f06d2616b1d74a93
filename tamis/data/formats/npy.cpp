#include "tamis/data/formats/npy.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>

#include "tamis/base/error.h"
#include "tamis/base/text/number.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/formats/npy_numbers.h"
#include "tamis/data/labels.h"

namespace tamis {
namespace {

void require_end(ByteStream& bytes) {
  char extra = 0;
  require(bytes.read(&extra, 1) == 0, ErrorCode::bad_data, bytes.where(), ": unexpected bytes after the array");
}

// Fills `to` with exactly `size` bytes, handing each piece to `post` while it is in the cache.
template <class Post>
void read_payload(ByteStream& bytes, std::byte* to, std::size_t size, std::size_t piece, const Post& post) {
  for (std::size_t done = 0; done < size;) {
    const std::size_t wanted = std::min(piece, size - done);
    require(bytes.read_full(to + done, wanted) == wanted, ErrorCode::bad_data, bytes.where(),
            ": truncated, the header promises ", size, " bytes");
    post(to + done, wanted);
    done += wanted;
  }
  require_end(bytes);
}

constexpr std::size_t kPostPiece = std::size_t{1} << 18;

void read_numbers(ByteStream& bytes, const NpyHeader& header, std::byte* to, std::size_t size) {
  const bool as_they_are = header.kind != 'b' && (!header.swapped || header.item == 1);
  read_payload(bytes, to, size, as_they_are ? size : kPostPiece,
               [&](std::byte* data, std::size_t count) { convert_numbers(header, data, count); });
}

template <class Visit>
auto visit_element(const NpyArray& array, Index i, const Visit& visit) {
  return with_type(array.dtype, [&]<class T>() { return visit(array.buffer.as<T>()[i]); });
}

bool is_text(const NpyHeader& header) { return header.kind == 'U' || header.kind == 'S'; }

NpyArray read_array_after(const NpyHeader& header, ByteStream& bytes, Budget& budget) {
  require(!is_text(header), ErrorCode::bad_data, bytes.where(), ": an array of text, need numbers");
  const std::size_t size = payload_size(bytes, header);
  const bool half = is_half(header);
  NpyArray array;
  array.dtype = dtype_of(header);
  array.fortran = header.fortran;
  array.shape = header.shape;
  array.count = header.count;
  require(!half || size <= SIZE_MAX / 2, ErrorCode::bad_data, bytes.where(), ": more than 2^64 bytes");
  budget.take(half ? 2 * size : size);
  array.buffer.resize(half ? 2 * size : size);
  read_numbers(bytes, header, array.buffer.data() + (half ? size : 0), size);
  if (half) widen_halves(array.buffer.data(), size);
  return array;
}

// The numbers where they lie in the file, where they need no change; null otherwise.
std::shared_ptr<const void> map_numbers(const NpyHeader& header, ByteStream& bytes, Context& context) {
  const bool number = header.kind == 'f' || header.kind == 'i' || header.kind == 'u';
  if (!number || (header.swapped && header.item > 1) || is_half(header)) return nullptr;
  const std::size_t size = payload_size(bytes, header);
  require_memory(context, bytes.where(), size);
  return size == 0 ? nullptr : bytes.map(size, header.item);
}

std::string word_at(const std::byte* item, const NpyHeader& header) {
  std::string word;
  if (header.kind == 'S') {
    word.assign(reinterpret_cast<const char*>(item), header.item);
  } else {
    for (std::size_t k = 0; k < header.item; k += 4) {
      std::uint32_t code = 0;
      std::memcpy(&code, item + k, 4);
      append_utf8(word, header.swapped ? __builtin_bswap32(code) : code);
    }
  }
  word.resize(word.find_last_not_of('\0') + 1);  // NumPy pads with NULs
  return word;
}

// Visits the words of an array of text, which is never in memory as a whole.
template <class Visit>
void for_each_word(const NpyHeader& header, ByteStream& bytes, const Visit& visit) {
  const std::size_t size = payload_size(bytes, header);
  const std::size_t at_once = std::max<std::size_t>(1, kPostPiece / std::max<std::size_t>(1, header.item));
  Buffer buffer(std::min(size, at_once * header.item));
  for (Index i = 0; i < header.count;) {
    const Index count = std::min(header.count - i, static_cast<Index>(at_once));
    const std::size_t wanted = count * header.item;
    require(bytes.read_full(buffer.data(), wanted) == wanted, ErrorCode::bad_data, bytes.where(),
            ": truncated, the header promises ", size, " bytes");
    for (Index k = 0; k < count; ++k) {
      visit(word_at(buffer.data() + k * header.item, header));
    }
    i += count;
  }
  require_end(bytes);
}

}  // namespace

double number_at(const NpyArray& array, Index i) {
  return visit_element(array, i, [](auto value) { return static_cast<double>(value); });
}

bool integer_at(const NpyArray& array, Index i, std::int64_t& value) {
  return visit_element(array, i, [&](auto element) {
    if constexpr (std::is_floating_point_v<decltype(element)>) {
      if (!(std::abs(element) < 0x1p62) || element != std::trunc(element)) return false;
    } else if constexpr (sizeof(element) == 8 && std::is_unsigned_v<decltype(element)>) {
      if (element > static_cast<std::uint64_t>(INT64_MAX)) return false;
    }
    value = static_cast<std::int64_t>(element);
    return true;
  });
}

NpyArray read_npy_array(ByteStream& bytes, Budget& budget) {
  return read_array_after(read_npy_header(bytes), bytes, budget);
}

std::string read_npy_word(ByteStream& bytes) {
  const NpyHeader header = read_npy_header(bytes);
  if (!is_text(header) || header.count != 1) return "";
  std::string word;
  for_each_word(header, bytes, [&](std::string&& one) { word = std::move(one); });
  return word;
}

Source read_npy_matrix(ByteStream& bytes, bool transpose, bool map, Context& context) {
  const NpyHeader header = read_npy_header(bytes);
  require_matrix(bytes.where(), header);
  DenseView view;
  std::shared_ptr<const void> owner = map ? map_numbers(header, bytes, context) : nullptr;
  if (owner != nullptr) {
    view.data = owner.get();
    view.dtype = dtype_of(header);
  } else {
    Budget budget(context, bytes.where());
    const auto array = std::make_shared<NpyArray>(read_array_after(header, bytes, budget));
    view.data = array->buffer.data();
    view.dtype = array->dtype;
    owner = array;
  }
  view.rows = header.shape[0];
  view.cols = header.shape[1];
  view.row_stride = header.fortran ? 1 : view.cols;
  view.col_stride = header.fortran ? view.rows : 1;
  if (transpose) {
    std::swap(view.rows, view.cols);
    std::swap(view.row_stride, view.col_stride);
  }
  require_shape(bytes.where(), view.rows, view.cols);
  return Source(make_dense_store(view, owner));
}

Labels read_npy_labels(ByteStream& bytes, Index rows, Context& context) {
  const NpyHeader header = read_npy_header(bytes);
  require_label_count(bytes.where(), "the array", header.count, rows);
  Budget budget(context, bytes.where());
  LabelBuilder builder(budget);
  if (is_text(header)) {
    for_each_word(header, bytes, [&](const std::string& word) { builder.add(word); });
    return builder.finish();
  }
  const NpyArray array = read_array_after(header, bytes, budget);
  for (Index i = 0; i < array.count; ++i) {
    std::int64_t whole = 0;
    const double value = number_at(array, i);
    require(std::isfinite(value), ErrorCode::bad_data, bytes.where(), ": label ", i,
            " is not finite, need a class, or -1 for unlabeled");
    builder.add(integer_at(array, i, whole) ? std::to_string(whole) : number_text(value));
  }
  return builder.finish();
}

void require_matrix(const std::string& where, const NpyHeader& header) {
  require(header.shape.size() == 2, ErrorCode::bad_data, where, ": ", header.shape.size(),
          " dimensions, need 2 (rows x columns)");
}

void require_shape(const std::string& where, Index rows, Index cols) {
  require(rows >= 2, ErrorCode::bad_data, where, ": ", rows, rows == 1 ? " row" : " rows", ", need at least 2");
  require(cols >= 1, ErrorCode::bad_data, where, ": ", cols, " columns, need at least 1");
}

}  // namespace tamis
