// Guides of clusterings that a test has worked out.
#pragma once

#include <algorithm>
#include <vector>

#include "tamis/select/guided/guide.h"

namespace tamis::support {

// Labels from 0 on, of no empty cluster.
inline Guide guide_of(const std::vector<std::vector<int>>& labels, const std::vector<double>& weights) {
  Guide guide;
  guide.rows = std::ssize(labels.front());
  for (std::size_t q = 0; q < labels.size(); ++q) {
    Partition partition{labels[q], std::vector<Index>(*std::ranges::max_element(labels[q]) + 1), weights[q]};
    for (const int label : labels[q]) ++partition.sizes[label];
    guide.partitions.push_back(std::move(partition));
  }
  return guide;
}

}  // namespace tamis::support
