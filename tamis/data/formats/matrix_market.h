// MatrixMarket files and the folders of 10x Genomics that hold one.
#pragma once

#include "tamis/data/formats/bytes.h"
#include "tamis/data/table.h"

namespace tamis {

// coordinate (real, integer, pattern; general, symmetric, skew-symmetric) gives sparse rows, duplicates summed and
// zeros dropped; array gives dense rows.
Source read_matrix_market(ByteStream& bytes, bool transpose, Context& context);

// Whether the folder holds matrix.mtx or matrix.mtx.gz.
bool is_tenx_folder(const std::string& folder);
// Cells as rows, genes as columns: named by the second word of features.tsv (else genes.tsv), or its first.
Reading read_tenx(const std::string& folder, const ReadOptions& options, Context& context);

}  // namespace tamis
