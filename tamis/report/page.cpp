#include "tamis/report/page.h"

#include <zlib.h>

#include <cmath>
#include <filesystem>
#include <limits>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"
#include "tamis/base/text/utf8.h"
#include "tamis/base/version.h"
#include "tamis/report/embedded.h"
#include "tamis/report/machine.h"

namespace tamis::page {

namespace {

constexpr std::size_t kLongTable = 30;  // longer tables scroll inside a window
constexpr std::size_t kLongCards = 10;  // and so do longer ones whose rows are cards
constexpr std::size_t kPrintedRows = 100;
constexpr std::size_t kNameLength = 48;                  // characters of a name in a table
constexpr std::size_t kFullName = 400;                   // bytes of it where it is shown in full
constexpr std::string_view kMarkColor = "\xd9\x5f\x02";  // of pixels, on gray ones
constexpr const char* kMissing = "\u2013";
constexpr double kLeastP = 1e-16;  // what is smaller is no statement about the table

std::string html_of(const std::string& text) { return html_text(text); }

// Sentences: no line ends between a number and its percent sign, nor in an interval, "(95 %: 1.3 to 5.1)".
std::string prose_of(const std::string& text) {
  constexpr std::string_view kInterval = "(95 %:";
  std::string out;
  bool interval = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    interval = text[i] != ')' && (interval || text.compare(i, kInterval.size(), kInterval) == 0);
    const bool joined = i > 0 && text[i - 1] >= '0' && text[i - 1] <= '9' && i + 1 < text.size() && text[i + 1] == '%';
    text[i] == ' ' && (joined || interval) ? out += "\u00a0" : out += text[i];
  }
  return html_of(out);
}

// A command whose lines end between words, not within them.
std::string command_of(const std::string& text) {
  std::string out;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    out += concat(begin == 0 ? "" : " ", "<span>", html_of(text.substr(begin, end - begin)), "</span>");
    begin = end + 1;
  }
  return concat("<code>", out, "</code>");
}

// --- Numbers ----------------------------------------------------------------------------------------------------

// With a typographic minus.
std::string with_minus(std::string number) {
  if (!number.empty() && number.front() == '-') number.replace(0, 1, "\u2212");
  return number;
}

std::string number_cell(double value, const Column& column) {
  switch (column.kind) {
    case Column::Kind::percent: return with_minus(fixed_number(100.0 * value, column.digits)) + "\u202f%";
    case Column::Kind::number: return with_minus(fixed_number(value, column.digits));
    case Column::Kind::probability:
      return value < kLeastP ? concat("< ", short_number(kLeastP)) : short_number(value, column.digits);
    default: return with_minus(short_number(value, column.digits > 0 ? column.digits : 6));
  }
}

// --- Blocks -----------------------------------------------------------------------------------------------------

class Writer {
 public:
  explicit Writer(const std::function<void(std::string_view)>& write) : write_(write) {}

  void section(const Section& section, std::size_t number) {
    out("<section aria-labelledby=\"section-", number, "\"><h2 id=\"section-", number, "\">", html_of(section.title),
        "</h2>\n<div class=\"blocks\">\n");
    for (const auto& one : section.blocks) {
      std::visit([this](const auto& block) { this->block(block); }, one);
    }
    out("</div></section>\n");
  }

 private:
  template <class... Pieces>
  void out(const Pieces&... pieces) {
    write_(concat(pieces...));
  }

  void heading(const std::string& title, const std::string& caption) {
    if (!title.empty()) out("<h3>", html_of(title), "</h3>");
    if (!caption.empty()) out("<p class=\"caption\">", prose_of(caption), "</p>");
  }

  void block(const Text& one) { out("<p>", prose_of(one.text), "</p>\n"); }

  void block(const Note& one) {
    out("<p class=\"note", one.warning ? " warning\"><strong>Warning:</strong> " : "\">", prose_of(one.text), "</p>\n");
  }

  void block(const Facts& one) {
    out("<dl>");
    for (const auto& [name, value] : one.facts) out("<dt>", html_of(name), "<dd>", prose_of(value));
    out("</dl>\n");
  }

  // End tags of cells and rows are omitted, as HTML allows: they would be a third of a long table.
  void block(const Table& one) {
    const bool is_long = one.rows.size() > kLongTable;
    if (one.folded) out("<details><summary>", html_of(one.title), "</summary>");
    out("<div class=\"table", one.half ? " half\">" : "\">");
    heading(one.folded ? "" : one.title, one.caption);
    const std::string name = html_of(one.title.empty() ? "table" : one.title);
    // Scrollable regions must be reachable from the keyboard and have a name.
    out("<div class=\"scroll",
        is_long                        ? " long"
        : one.rows.size() > kLongCards ? " many"
                                       : "",
        one.wide ? " wide" : "", "\" role=\"region\" tabindex=\"0\" aria-label=\"", name, "\"><table",
        one.sortable ? " class=\"sortable\"" : "", "><thead><tr>");
    for (const auto& column : one.columns) {
      out("<th scope=\"col\"", is_number(column) ? " class=\"n\">" : ">", html_of(column.title));
    }
    out("<tbody>\n");
    for (const auto& row : one.rows) {
      require(row.size() == one.columns.size(), ErrorCode::internal, "page: a row of ", row.size(), " cells, need ",
              one.columns.size());
      out("<tr>");
      for (std::size_t j = 0; j < row.size(); ++j) cell(row[j], one.columns[j]);
    }
    out("</table></div>");
    if (is_long && one.rows.size() > kPrintedRows) {
      out("<p class=\"print-only\">The first ", kPrintedRows, " of ", one.rows.size(), " rows.</p>");
    }
    out("</div>", one.folded ? "</details>\n" : "\n");
  }

  static bool is_number(const Column& column) {
    return column.kind != Column::Kind::words && column.kind != Column::Kind::strip;
  }

  void cell(const TableCell& one, const Column& column) {
    if (column.kind == Column::Kind::strip) {
      out(one.text.empty() ? "<td>" : concat("<td class=s data-s=\"", html_of(one.text), "\">"));
      return;
    }
    std::string inner;
    if (one.number) {
      inner = std::isfinite(*one.number) ? html_of(number_cell(*one.number, column)) : kMissing;
      if (one.deviation && std::isfinite(*one.deviation) && std::isfinite(*one.number)) {
        inner += " <span class=\"pm\">\u00b1 " + number_cell(*one.deviation, column) + "</span>";
      }
    } else {
      inner = one.text.empty() && column.kind != Column::Kind::words ? kMissing : html_of(one.text);
    }
    const bool wide = !one.number && character_count(one.text) > 24;
    const char* tag = is_number(column) ? "<td class=n" : wide ? "<td class=w" : "<td";
    const bool bounded =
        column.kind == Column::Kind::probability && one.number && *one.number < kLeastP;  // sorted by value
    out(tag, one.full.empty() ? "" : concat(" title=\"", html_of(one.full), "\""),
        bounded ? concat(" data-v=", short_number(*one.number)) : "", ">", one.best ? "<b>" : "", inner,
        one.best ? "</b>" : "");
  }

  void block(const Figure& one) {
    ++figure_;
    out("<figure", one.half ? " class=\"half\"" : "", " id=\"figure-", figure_, "\">");
    heading(one.title, one.caption);
    out("<ul class=\"legend\" id=\"legend-", figure_, "\"></ul><div class=\"plot\" id=\"plot-", figure_,
        "\" role=\"img\" aria-label=\"", html_of(one.alt), "\"></div><div class=\"tools\" id=\"tools-", figure_,
        "\"></div></figure>\n");
  }

  void block(const Images& one) {
    out("<div>");
    heading(one.title, one.caption);
    out("<div class=\"images\"");
    if (!one.values.empty()) {
      out(" data-w=\"", one.images.front().width, "\" data-t=\"", html_of(one.value_title), "\" data-v=\"");
      for (const double value : one.values) out(std::isfinite(value) ? short_number(value, 4) : "", " ");
      out("\"");
    }
    out(">");
    for (const auto& image : one.images) {
      out("<figure><img width=\"", image.width, "\" height=\"", image.height, "\" alt=\"", html_of(image.alt),
          "\" src=\"", png_address(image), "\">");
      if (!image.label.empty()) out("<figcaption>", prose_of(image.label), "</figcaption>");
      out("</figure>");
    }
    out("</div></div>\n");
  }

  const std::function<void(std::string_view)>& write_;
  std::size_t figure_ = 0;
};

// --- The frame --------------------------------------------------------------------------------------------------

std::string policy() {
  std::string scripts;
  for (const auto& file :
       {embedded_vega_js(), embedded_vega_lite_js(), embedded_vega_interpreter_js(), embedded_report_js()}) {
    scripts += concat(" '", file.hash, "'");
  }
  return concat("default-src 'none'; script-src", scripts, "; style-src '", embedded_report_css().hash,
                "'; img-src data:; base-uri 'none'; form-action 'none'");
}

std::string nav(const Page& page) {
  if (page.sections.size() < 3) return "";
  std::string out = "<nav aria-label=\"Sections\"><ul>";
  for (std::size_t i = 0; i < page.sections.size(); ++i) {
    out += concat("<li><a href=\"#section-", i + 1, "\">", html_of(page.sections[i].title), "</a></li>");
  }
  return out + "</ul></nav>";
}

std::string verdict_html(const Page& page) {
  std::string out;
  for (std::size_t i = 0; i < page.verdict.size(); ++i) {
    out += i == 0 ? "<p class=\"lead\">" : i == 1 ? "</p>\n<p>" : " ";
    out += prose_of(page.verdict[i]);
  }
  if (!out.empty()) out = concat("<div class=\"verdict\">", out, "</p></div>\n");
  if (page.origin.empty()) return out;
  out += "<dl class=\"origin\">";
  for (const auto& [label, text, code] : page.origin) {
    out += concat("<dt>", html_of(label), "<dd>", code ? command_of(text) : html_of(text));
  }
  return out + "</dl>\n";
}

// A script element ends at "</script" and breaks at "<!--", wherever they occur, so every < is escaped.
void write_figures(const Page& page, const std::function<void(std::string_view)>& write) {
  write("[");
  bool first = true;
  for (const auto& section : page.sections) {
    for (const auto& block : section.blocks) {
      const auto* figure = std::get_if<Figure>(&block);
      if (figure == nullptr) continue;
      std::string escaped = first ? "" : ",";
      for (const char byte : figure->spec) byte == '<' ? escaped += "\\u003c" : escaped += byte;
      write(escaped);
      first = false;
    }
  }
  write("]");
}

void write_slot(std::string_view name, const Page& page, const std::function<void(std::string_view)>& write) {
  if (name == "policy") return write(policy());
  if (name == "version") return write(kVersion);
  if (name == "title") return write(html_of(page.title));
  if (name == "summary") return write(html_of(page.summary));
  if (name == "verdict") return write(verdict_html(page));
  if (name == "nav") return write(nav(page));
  if (name == "css") return write(embedded_report_css().bytes);
  if (name == "license") return write(embedded_license().bytes);
  if (name == "vega") return write(embedded_vega_js().bytes);
  if (name == "vega-lite") return write(embedded_vega_lite_js().bytes);
  if (name == "interpreter") return write(embedded_vega_interpreter_js().bytes);
  if (name == "report") return write(embedded_report_js().bytes);
  if (name == "figures") return write_figures(page, write);
  require(name == "sections", ErrorCode::internal, "page: no slot ", name);
  Writer writer(write);
  for (std::size_t i = 0; i < page.sections.size(); ++i) writer.section(page.sections[i], i + 1);
}

// --- PNG --------------------------------------------------------------------------------------------------------

void append_number(std::string& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 255u);
}

void append_chunk(std::string& out, const std::string& kind, const std::string& data) {
  append_number(out, static_cast<std::uint32_t>(data.size()));
  const std::string covered = kind + data;
  out += covered;
  append_number(out, static_cast<std::uint32_t>(
                         crc32(0, reinterpret_cast<const Bytef*>(covered.data()), static_cast<uInt>(covered.size()))));
}

std::string base64(std::string_view bytes) {
  constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      group = group << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      out += at + i <= bytes.size() ? kLetters[group >> (18 - 6 * i) & 63u] : '=';
    }
  }
  return out;
}

}  // namespace

void write_page(const Page& page, const std::function<void(std::string_view)>& write) {
  const std::string_view frame = embedded_report_html().bytes;
  std::size_t at = 0;
  for (;;) {
    const std::size_t slot = frame.find("@{", at);
    if (slot == std::string_view::npos) break;
    const std::size_t end = frame.find('}', slot);
    write(frame.substr(at, slot - at));
    write_slot(frame.substr(slot + 2, end - slot - 2), page, write);
    at = end + 1;
  }
  write(frame.substr(at));
}

std::string page_html(const Page& page) {
  std::string out;
  write_page(page, [&](std::string_view piece) { out += piece; });
  return out;
}

std::string html_text(std::string_view bytes) {
  std::string out;
  for (const char byte : printable(bytes, std::numeric_limits<std::size_t>::max())) {
    switch (byte) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += byte;
    }
  }
  return out;
}

std::string png_address(const Image& image) {
  const auto width = static_cast<std::size_t>(image.width), height = static_cast<std::size_t>(image.height);
  require(width > 0 && image.ink.size() == width * height, ErrorCode::internal, "page: an image of ", image.ink.size(),
          " pixels, need ", image.width, " x ", image.height);
  const bool color = !image.marked.empty();
  std::string rows;
  for (std::size_t i = 0; i < height; ++i) {
    rows += '\0';  // no filter
    for (std::size_t j = 0; j < width; ++j) {
      const auto light = static_cast<char>(255 - image.ink[i * width + j]);
      if (!color) {
        rows += light;
      } else {
        rows += image.marked[i * width + j] ? std::string(kMarkColor) : std::string(3, light);
      }
    }
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  const int status = compress(reinterpret_cast<Bytef*>(packed.data()), &size,
                              reinterpret_cast<const Bytef*>(rows.data()), rows.size());
  require(status == Z_OK, ErrorCode::internal, "page: zlib status ", status);
  packed.resize(size);
  std::string png = "\x89PNG\r\n\x1a\n", head;
  append_number(head, static_cast<std::uint32_t>(width));
  append_number(head, static_cast<std::uint32_t>(height));
  // 8 bits, gray or red, green and blue, the only compression and filter methods, not interlaced.
  head += std::string(color ? "\x08\2\0\0\0" : "\x08\0\0\0\0", 5);
  append_chunk(png, "IHDR", head);
  append_chunk(png, "IDAT", packed);
  append_chunk(png, "IEND", "");
  return "data:image/png;base64," + base64(png);
}

std::string elided(const std::string& text, std::size_t most) {
  const std::size_t count = character_count(text);
  if (count <= most) return text;
  const std::size_t tail = (most - 1) * 2 / 5, head = most - 1 - tail;
  std::string out;
  std::size_t at = 0;
  for (const char byte : text) {
    if (begins_character(byte) && at++ == head) out += "\u2026";
    if (at <= head || at > count - tail) out += byte;
  }
  return out;
}

TableCell name_cell(const std::string& name) {
  const std::string shown = name.empty() ? "(empty name)" : printable(name, name.size());
  TableCell cell(elided(shown, kNameLength));
  if (cell.text != name) cell.full = shown.substr(0, kFullName);
  return cell;
}

std::string file_text(const std::string& path) {
  return path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
}

std::string machine_text() {
  const Machine machine = this_machine();
  const std::string processor = machine.processor.empty() ? "" : machine.processor + ", ";
  return concat(processor, machine.cores, " threads, ", machine.system);
}

}  // namespace tamis::page
