// The page of one selection: the selected features and why, the score curve, the course of the method, redundant
// features, and excluded columns.
#pragma once

#include <optional>
#include <string>

#include "tamis/report/document.h"
#include "tamis/report/page.h"

namespace tamis {

// How the features of a row form an image.
struct ImageShape {
  Index height = 0, width = 0;
  bool by_columns = false;  // pixels are stored column by column, as in MATLAB

  // The pixel of feature j, counted row by row from the top.
  Index pixel(Index j) const { return by_columns ? j % height * width + j / height : j; }
};

// "28x28", height first; "32x32T" if pixels are stored column by column. Throws Error(usage).
ImageShape parse_image_shape(const std::string& text);
// Throws Error(usage) unless the table has one feature per pixel.
void require_image(const ImageShape& shape, const Table& table);

struct SelectPageOptions {
  std::optional<ImageShape> image;
  std::string id_column;             // as requested, to say why it is not a feature
  std::vector<page::Origin> origin;  // how the page came about, see page::Page
};

// One or two passes over the best hundred features, for their correlations.
page::Page select_page(const SelectionRecord& record, const SelectPageOptions& options, Context& context);

}  // namespace tamis
