// The page of one selection: what was chosen and why, how the scores fall, how the method got there, what repeats what,
// and what was left out.
#pragma once

#include <optional>
#include <string>

#include "tamis/report/document.h"
#include "tamis/report/page.h"

namespace tamis {

// How the features of a row make an image.
struct ImageShape {
  Index height = 0, width = 0;
  bool by_columns = false;  // pixels go down the columns, as MATLAB stores them

  // Where feature j stands, counted row after row from the top.
  Index pixel(Index j) const { return by_columns ? j % height * width + j / height : j; }
};

// "28x28", height first; "32x32T" where pixels go down the columns. Throws Error(usage).
ImageShape parse_image_shape(const std::string& text);
// Throws Error(usage) unless the table has one feature a pixel.
void require_image(const ImageShape& shape, const Table& table);

struct SelectPageOptions {
  std::optional<ImageShape> image;
  std::string id_column;  // as it was asked for, to say why it is no feature
};

// One or two passes over the best hundred features, for their correlations.
page::Page select_page(const SelectionRecord& record, const SelectPageOptions& options, Context& context);

}  // namespace tamis
