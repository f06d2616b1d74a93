// The files of the report page and the data of the demo, embedded by cmake/Embed.cmake.
#pragma once

#include <string_view>

namespace tamis {

struct EmbeddedFile {
  std::string_view bytes;
  std::string_view hash;  // "sha256-...", as a Content-Security-Policy spells it
};

EmbeddedFile embedded_license();  // of Vega
EmbeddedFile embedded_vega_js();
EmbeddedFile embedded_vega_lite_js();
EmbeddedFile embedded_vega_interpreter_js();
EmbeddedFile embedded_report_js();
EmbeddedFile embedded_report_css();
EmbeddedFile embedded_report_html();  // the template, see page.cpp
EmbeddedFile embedded_digits_npz();   // of `tamis demo`

}  // namespace tamis
