#include "app/digits.h"

#include "tamis/base/error.h"
#include "tamis/data/formats/npz.h"
#include "tamis/report/embedded.h"

namespace tamis::app {

Table read_digits(Context& context) {
  ReadOptions options;
  options.array = "pixels";
  options.labels = {"digit"};
  Table table = read_npz(open_random_memory(embedded_digits_npz().bytes, "digits"), options, context).table;
  table.path = "digits (embedded)";
  for (Index j = 0; j < table.source.cols(); ++j) {
    table.names.push_back(concat("row ", j / kDigitSide, " col ", j % kDigitSide));
  }
  return table;
}

}  // namespace tamis::app
