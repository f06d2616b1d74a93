#include "tamis/base/types.h"

namespace tamis {

std::size_t size_of(DType type) {
  switch (type) {
    case DType::i8:
    case DType::u8: return 1;
    case DType::i16:
    case DType::u16: return 2;
    case DType::f32:
    case DType::i32:
    case DType::u32: return 4;
    case DType::f64:
    case DType::i64:
    case DType::u64: return 8;
  }
  return 0;
}

const char* name_of(DType type) {
  switch (type) {
    case DType::f32: return "float32";
    case DType::f64: return "float64";
    case DType::i8: return "int8";
    case DType::i16: return "int16";
    case DType::i32: return "int32";
    case DType::i64: return "int64";
    case DType::u8: return "uint8";
    case DType::u16: return "uint16";
    case DType::u32: return "uint32";
    case DType::u64: return "uint64";
  }
  return "?";
}

}  // namespace tamis
