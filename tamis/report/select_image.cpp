#include <algorithm>
#include <charconv>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/report/select_view.h"

namespace tamis {

page::Section image_section(const SelectView& view) {
  const ImageShape& shape = *view.options.image;
  const auto pixels = static_cast<std::size_t>(shape.height * shape.width);
  page::Image mask{shape.width, shape.height, std::vector<std::uint8_t>(pixels, 0), "Selected pixels", ""};
  page::Image shade = mask;
  for (const Index j : view.result.selected) mask.ink[at(shape.pixel(j))] = 255;
  mask.alt = concat("Image of ", shape.height, " x ", shape.width, " pixels, the ", view.result.selected.size(),
                    " selected ones in black.");
  const bool by_share = view.is_order() && view.selection.guidance.has_value();
  const std::vector<double> values =
      by_share ? for_all_columns(view.selection.guidance->share, view.result) : view.result.scores;
  double least = values[at(view.result.ranking.front())], most = least;
  for (const Index j : view.result.ranking) {
    least = std::min(least, values[at(j)]);
    most = std::max(most, values[at(j)]);
  }
  for (const Index j : view.result.ranking) {
    const double share = most > least ? (values[at(j)] - least) / (most - least) : 0.0;
    shade.ink[at(shape.pixel(j))] = static_cast<std::uint8_t>(std::lround(255.0 * share));
  }
  shade.label = by_share ? "Shares (the largest is black)" : "Scores (the best is black)";
  shade.alt = concat("Image of ", shape.height, " x ", shape.width, " pixels; darker means a higher ",
                     by_share ? "share." : "score.");
  return {"Image", {page::Images{"", "One feature per pixel.", {mask, shade}}}};
}

ImageShape parse_image_shape(const std::string& given) {
  ImageShape shape;
  const char* last = given.data() + given.size();
  const auto height = std::from_chars(given.data(), last, shape.height);
  const char* width_begin = height.ptr == last ? last : height.ptr + 1;
  const bool cross = height.ec == std::errc() && height.ptr != last && (*height.ptr == 'x' || *height.ptr == 'X');
  const auto width = std::from_chars(width_begin, last, shape.width);
  const std::string_view rest(width.ptr, static_cast<std::size_t>(last - width.ptr));
  shape.by_columns = rest == "T" || rest == "t";
  constexpr Index kMost = 1 << 20;
  const bool sized = shape.height > 0 && shape.width > 0 && shape.height <= kMost && shape.width <= kMost;
  require(cross && width.ec == std::errc() && sized && (rest.empty() || shape.by_columns), ErrorCode::usage,
          "image = ", given, ", need HEIGHTxWIDTH, such as 28x28, or 28x28T if pixels are stored column by column");
  return shape;
}

void require_image(const ImageShape& shape, const Table& table) {
  require(shape.height * shape.width == table.source.cols(), ErrorCode::usage, "image = ", shape.height, "x",
          shape.width, ", need one feature per pixel: the table has ", table.source.cols());
}

}  // namespace tamis
