// A page of results built from blocks: text, notes, tables, figures and small images. It is one self-contained HTML
// file: its scripts and styles are embedded and allowed only by their hash, and it makes no network requests.
//
// All strings are untrusted plain text, including names from files: they are escaped when they are written.
// Invalid UTF-8 and control characters are written as \xNN.
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

// "name: value", one per line.
struct Facts {
  std::vector<std::pair<std::string, std::string>> facts;
};

struct Column {
  enum class Kind {
    words,
    number,       // `digits` decimals
    significant,  // at most `digits` significant digits
    percent,      // of 1, `digits` decimals
    probability,  // `digits` significant digits, down to 1e-16
    strip,        // a bar for each digit 0 to f of the text; '-': none
  };
  std::string title;
  Kind kind = Kind::words;
  int digits = 0;
};

// Empty, a text, or a number (NaN: empty) with an optional deviation.
struct TableCell {
  TableCell() = default;
  TableCell(std::string value) : text(std::move(value)) {}
  TableCell(const char* value) : text(value) {}
  TableCell(double value) : number(value) {}
  TableCell(Index value) : number(static_cast<double>(value)) {}
  TableCell(double value, double plus_minus) : number(value), deviation(plus_minus) {}

  std::string text;
  std::string full;  // where `text` is a shorter form of it: shown on hover, copied and saved
  std::optional<double> number, deviation;
  bool best = false;  // highlighted
};

// Long tables scroll inside a window; searching the page finds every row.
struct Table {
  std::string title, caption;
  std::vector<Column> columns;
  std::vector<std::vector<TableCell>> rows;
  bool sortable = true;
  bool half = false;    // half the page width, if the page is wide enough
  bool wide = false;    // many columns: the first two stay in view, and the print is small on paper
  bool folded = false;  // behind its title, which opens it
};

struct Figure {
  std::string title, caption;
  std::string alt;    // description for screen readers
  std::string spec;   // Vega-Lite as JSON, see charts.h
  bool half = false;  // half the page width, if the page is wide enough
};

// Pixels, row by row from the top: 0 is white, 255 is black.
struct Image {
  Index width = 0, height = 0;
  std::vector<std::uint8_t> ink;
  std::string label, alt;
  std::vector<char> marked = {};  // pixels in another color; empty: none
};

struct Images {
  std::string title, caption;
  std::vector<Image> images;
  std::vector<double> values = {};  // of each pixel, shown with its row and column on hover; empty: none
  std::string value_title = {};
};

using Block = std::variant<Text, Note, Facts, Table, Figure, Images>;

struct Section {
  std::string title;
  std::vector<Block> blocks;
};

// How the page came about, and what comes next: "command", "written", "next".
struct Origin {
  std::string label, text;
  bool code = false;  // a command, to be copied
};

struct Page {
  std::string title;
  std::string summary;  // one line
  std::vector<Section> sections;
  std::vector<std::string> verdict = {};  // sentences, on top of the page
  std::vector<Origin> origin = {};        // below them
};

// Writes the page piece by piece.
void write_page(const Page& page, const std::function<void(std::string_view)>& write);
std::string page_html(const Page& page);

// Text escaped for an element or a quoted attribute. Nothing is truncated.
std::string html_text(std::string_view bytes);
// A grayscale PNG, 8 bits per pixel, as a data: URL.
std::string png_address(const Image& image);

// A text of at most `most` characters: of a longer one the beginning and the end, which often tell names apart.
std::string elided(const std::string& text, std::size_t most);
// A name as a cell: elided, and in full besides.
TableCell name_cell(const std::string& name);

// The name of a file without its folders, or "standard input" for "-".
std::string file_text(const std::string& path);

// The processor, its threads and the system in one line; no host or user names.
std::string machine_text();

}  // namespace tamis::page
