// A page of results made of blocks: text, notes, tables, figures and small images. It is one HTML file that needs
// nothing else: its scripts and styles are in it and are let in by their hash alone, and it asks nothing of a network.
//
// All strings are plain text from anywhere, names out of files included: they are escaped where they are written.
// Bytes that are no UTF-8 and control characters come out as \xNN.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tamis/base/types.h"

namespace tamis::page {

struct Text {
  std::string text;  // one paragraph
};

struct Note {
  std::string text;
  bool warning = false;
};

// "name: value", one a line.
struct Facts {
  std::vector<std::pair<std::string, std::string>> facts;
};

struct Column {
  enum class Kind {
    words,
    number,       // `digits` of them after the point
    significant,  // at most `digits` of them in all
    percent,      // of 1, `digits` after the point
  };
  std::string title;
  Kind kind = Kind::words;
  int digits = 0;
};

// Nothing, a text, or a number (NaN: nothing) that may have a deviation beside it.
struct TableCell {
  TableCell() = default;
  TableCell(std::string value) : text(std::move(value)) {}
  TableCell(const char* value) : text(value) {}
  TableCell(double value) : number(value) {}
  TableCell(Index value) : number(static_cast<double>(value)) {}
  TableCell(double value, double plus_minus) : number(value), deviation(plus_minus) {}

  std::string text;
  std::optional<double> number, deviation;
  bool best = false;  // highlighted
};

// Rows beyond the first few stand in a window that scrolls; searching in the page finds them all.
struct Table {
  std::string title, caption;
  std::vector<Column> columns;
  std::vector<std::vector<TableCell>> rows;
  bool sortable = true;
  bool half = false;  // of the page's width, where it is wide enough
  bool wide = false;  // of many columns: the first two stay in view where it scrolls, and paper has small print
};

struct Figure {
  std::string title, caption;
  std::string alt;    // what it shows, for who does not see it
  std::string spec;   // Vega-Lite as JSON, see charts.h
  bool half = false;  // of the page's width, where it is wide enough
};

// Pixels, row after row from the top: 0 is paper, 255 is ink.
struct Image {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> ink;
  std::string label, alt;
};

struct Images {
  std::string title, caption;
  std::vector<Image> images;
};

using Block = std::variant<Text, Note, Facts, Table, Figure, Images>;

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

struct Page {
  std::string title;
  std::string summary;  // one line
  std::vector<Section> sections;
};

// Writes the page piece by piece.
void write_page(const Page& page, const std::function<void(std::string_view)>& write);
std::string page_html(const Page& page);

// Text as it may stand in an element or in a quoted attribute. Nothing is cut.
std::string html_text(std::string_view bytes);
// A grayscale PNG, 8 bits a pixel, as a data: address.
std::string png_address(const Image& image);

// The processor, its threads and the system of this machine, in one line; no names of machines or people.
std::string machine_text();

}  // namespace tamis::page
