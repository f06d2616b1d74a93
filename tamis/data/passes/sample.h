// A sample of the rows, in memory: what a method looks at that does not need them all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tamis/base/context.h"
#include "tamis/data/source.h"

namespace tamis {

// `count` of n rows, increasing: those whose random number u(seed, i) is among the smallest. Any split of the rows
// can draw its own share.
std::vector<Index> draw_rows(Index n, Index count, std::uint64_t seed);

// The given rows (increasing) as a source of their own, in the type they are stored in; sparse rows stay sparse. The
// columns and the scales are those of `source`. Where column_moments(source) are not known yet, the same pass computes
// them: the data are read once.
Source take_rows(const Source& source, const std::vector<Index>& rows, Context& context);

// The same rows in temporary files (stores/temporary_rows.h), with the same bits in every pass. The rows of `source`
// must be here, in memory or on disk. One pass.
Source take_rows_to_disk(const Source& source, const std::vector<Index>& rows, Context& context);

// The same where the rows live elsewhere: nothing of them is moved here. Nothing where they are here, or whoever holds
// them cannot take some of them.
std::optional<Source> take_rows_there(const Source& source, const std::vector<Index>& rows);

}  // namespace tamis
