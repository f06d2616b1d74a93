#include <algorithm>
#include <charconv>
#include <cmath>

#include "tamis/base/error.h"
#include "tamis/base/text/spelling.h"
#include "tamis/report/select_view.h"

namespace tamis {

namespace {

constexpr std::size_t kDrawnClusters = 24;
constexpr std::size_t kHoverPixels = 40000;

// Values of features as an image, from `low`, white, to `high`, black; white where there is none.
page::Image image_of(const ImageShape& shape, const std::vector<double>& values, double low, double high) {
  page::Image image{shape.width, shape.height, std::vector<std::uint8_t>(values.size(), 0), "", ""};
  for (std::size_t j = 0; j < values.size(); ++j) {
    const double share = high > low && std::isfinite(values[j]) ? (values[j] - low) / (high - low) : 0.0;
    image.ink[at(shape.pixel(static_cast<Index>(j)))] = static_cast<std::uint8_t>(std::lround(255.0 * share));
  }
  return image;
}

std::pair<double, double> range_of(const std::vector<double>& values) {
  double low = page::kNone, high = page::kNone;
  for (const double value : values) {
    if (std::isfinite(value)) low = std::fmin(low, value), high = std::fmax(high, value);
  }
  return {low, high};
}

// The selected pixels over the mean of all images: what they are pixels of.
page::Image selected_over_mean(const SelectView& view, const ImageShape& shape) {
  const std::vector<double> mean = for_all_columns(view.moments.mean, view.result);
  const auto [low, high] = range_of(mean);
  page::Image image = image_of(shape, mean, low, high);
  image.marked.assign(image.ink.size(), 0);
  for (const Index j : view.result.selected) image.marked[at(shape.pixel(j))] = 1;
  image.label = "Selected pixels over the mean image (dark: large values)";
  image.alt = concat("The mean image of ", shape.height, " x ", shape.width, " pixels in gray, the ",
                     view.result.selected.size(), " selected pixels in orange.");
  return image;
}

page::Image shades(const ImageShape& shape, const std::vector<double>& values, bool by_share) {
  const auto [low, high] = range_of(values);
  page::Image image = image_of(shape, values, low, high);
  image.label = by_share ? "Shares (the largest is black)" : "Scores (the best is black)";
  image.alt = concat("Image of ", shape.height, " x ", shape.width, " pixels; darker means a higher ",
                     by_share ? "share." : "score.");
  return image;
}

// The mean of the rows in each cluster, all on one scale.
page::Images cluster_images(const SelectView& view, const ImageShape& shape) {
  const ClusterProfile& profile = *view.profile;
  const auto count = static_cast<Index>(std::min(kDrawnClusters, profile.sizes.size()));
  std::vector<double> every(profile.means.data(), profile.means.data() + profile.means.size());
  const auto [low, high] = range_of(every);
  page::Images out{"Means of the clusters",
                   "All on one scale, dark for large values: what the rows of a cluster look like on average.",
                   {}};
  if (count < static_cast<Index>(profile.sizes.size())) {
    out.caption += concat(" The first ", count, " of ", profile.sizes.size(), " clusters.");
  }
  for (Index k = 0; k < count; ++k) {
    std::vector<double> mean(view.result.scores.size(), page::kNone);
    for (std::size_t f = 0; f < profile.features.size(); ++f) {
      mean[at(profile.features[f])] = profile.means(static_cast<Index>(f), k);
    }
    page::Image image = image_of(shape, mean, low, high);
    image.label = concat("cluster ", k, ", ", counted(profile.sizes[at(k)], "row"));
    image.alt = concat("The mean image of cluster ", k, " (", counted(profile.sizes[at(k)], "row"), ").");
    out.images.push_back(std::move(image));
  }
  return out;
}

}  // namespace

page::Section image_section(const SelectView& view) {
  const ImageShape& shape = *view.options.image;
  const bool by_share = view.is_order() && view.selection.guidance.has_value();
  const std::vector<double> values =
      by_share ? for_all_columns(view.selection.guidance->share, view.result) : view.result.scores;
  page::Images maps{"", "One feature per pixel.", {selected_over_mean(view, shape), shades(shape, values, by_share)}};
  if (values.size() <= kHoverPixels) {
    maps.values.resize(values.size());
    for (std::size_t j = 0; j < values.size(); ++j) maps.values[at(shape.pixel(static_cast<Index>(j)))] = values[j];
    maps.value_title = by_share ? "share" : "score";
  }
  page::Section section{"Image", {maps}};
  if (view.profile && view.profile->features.size() == view.result.ranking.size()) {
    section.blocks.push_back(cluster_images(view, shape));
  }
  return section;
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
