// From the bytes of an .npy file to numbers as a store holds them. Used by its readers.
#pragma once

#include "tamis/data/formats/npy.h"

namespace tamis {

// What the numbers are held as: float16 is widened to f32, bool to u8.
DType dtype_of(const NpyHeader& header);
inline bool is_half(const NpyHeader& header) { return header.kind == 'f' && header.item == 2; }

// The bytes of the array as the header claims them, compared with what there is.
std::size_t payload_size(const ByteStream& bytes, const NpyHeader& header);

// Big-endian numbers to the byte order of the machine, booleans to 0 or 1, in place.
void convert_numbers(const NpyHeader& header, std::byte* data, std::size_t size);

// float16 in the second half of 2 * size bytes becomes f32, from the front: never past what is yet to come.
void widen_halves(std::byte* data, std::size_t size);

}  // namespace tamis
