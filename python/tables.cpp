#include "python/tables.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>

#include "python/row_sink.h"
#include "python/run.h"
#include "python/spelling.h"
#include "tamis/base/memory.h"
#include "tamis/base/resident.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/formats/csv.h"
#include "tamis/data/labels.h"
#include "tamis/run/forecast.h"

namespace tamis::python {

namespace {

// The code for what a Python reader raised.
ErrorCode code_of(nb::python_error& error) {
  if (error.matches(PyExc_KeyboardInterrupt)) return ErrorCode::interrupted;
  if (error.matches(PyExc_MemoryError)) return ErrorCode::resources;
  if (error.matches(PyExc_OSError)) return ErrorCode::io;
  if (error.matches(PyExc_LookupError)) return ErrorCode::usage;  // a name that the file does not have
  if (error.matches(PyExc_ValueError) || error.matches(PyExc_ImportError)) return ErrorCode::bad_data;
  return ErrorCode::internal;
}

// Of a ReadError (tamis/_readers/request.py), which has texts and flags for parts.
Message message_of_parts(const nb::object& parts) {
  Message out;
  for (const nb::handle part : parts) {
    const bool flag = nb::hasattr(part, "word");
    const std::string word = to_bytes(flag ? nb::object(part.attr("word")) : nb::borrow(part));
    out = flag ? message(out, Flag{word, to_bytes(part.attr("value"))}) : message(out, word);
  }
  return out;
}

// Its message in one line.
Message message_of(nb::python_error& error) {
  if (nb::hasattr(error.value(), "parts")) return message_of_parts(error.value().attr("parts"));
  std::string message = to_bytes(nb::str(error.value()));
  if (message.empty()) message = to_bytes(nb::str(error.type().attr("__name__")));
  const std::size_t end = message.find_first_of("\r\n");
  return end == std::string::npos ? message : message.substr(0, end);
}

std::vector<std::string> texts_of(const nb::object& list) {
  std::vector<std::string> out;
  if (list.is_none()) return out;
  for (const nb::handle text : list) out.push_back(to_bytes(text));
  return out;
}

Labels labels_of(const nb::handle& words, Budget& budget) {
  LabelBuilder builder(budget);
  for (const nb::handle word : words) builder.add(to_bytes(word));
  return builder.finish();
}

Reading reading_of(const nb::object& parts, Source source, const std::string& where, const Context& context) {
  Budget budget(context, where);
  Reading reading;
  reading.table.source = std::move(source);
  reading.table.names = texts_of(parts.attr("names"));
  reading.table.row_ids = texts_of(parts.attr("row_ids"));
  reading.table.excluded_columns = texts_of(parts.attr("excluded_columns"));
  reading.table.format = to_bytes(parts.attr("format"));
  if (const nb::object columns = parts.attr("columns"); !columns.is_none()) {
    reading.table.columns = nb::cast<std::vector<Index>>(columns);
  }
  reading.label_choices = texts_of(parts.attr("label_choices"));
  for (const auto& [word, words] : nb::cast<nb::dict>(parts.attr("labels"))) {
    reading.table.labels[to_bytes(word)] = labels_of(words, budget);
  }
  return reading;
}

DType type_named(const std::string& name) {
  const auto type = dtype_named(name);
  require(type.has_value(), ErrorCode::internal, "rows of type ", name);
  return *type;
}

// Of `Unread` (tamis/_readers/request.py).
RowShape shape_of(const nb::object& unread) {
  using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
  const auto [rows, cols] = nb::cast<std::pair<Index, Index>>(unread.attr("shape"));
  RowShape shape{rows, cols, type_named(to_bytes(unread.attr("dtype").attr("name"))), {}};
  if (const nb::object given = unread.attr("offsets"); !given.is_none()) {
    const auto offsets = nb::cast<Offsets>(given);
    shape.offsets.assign(offsets.data(), offsets.data() + offsets.size());
  }
  return shape;
}

// Calls work() with the GIL, which the core does not hold. What Python raises becomes an Error.
template <class Work>
auto with_gil(Work work) {
  const nb::gil_scoped_acquire gil;
  try {
    return work();
  } catch (nb::python_error& error) {
    throw Error(code_of(error), message_of(error));
  }
}

// The two ways on from an open file, which is a lease since the core copies and destroys them without the GIL.
OpenedFile opened_file(const nb::object& file_object, const std::string& where, Context& context) {
  const std::shared_ptr<const void> lease = lease_of(file_object);
  OpenedFile file;
  file.load = [=, &context] {
    return with_gil([&] {
      const nb::object parts = object_of(lease).attr("load")();
      return reading_of(parts, source_of(parts.attr("X")), where, context);
    });
  };
  const nb::object rows = file_object.attr("rows");
  if (rows.is_none()) return file;
  context.process = process_memory();  // with the libraries of the reader
  file.rows = shape_of(rows);
  const TableSize size = size_on_disk(*file.rows, context);
  file.while_loading =
      resident_bytes("VmRSS").value_or(0) + size.table_bytes + nb::cast<std::uint64_t>(rows.attr("buffers"));
  file.leave_on_disk = [=, &context] {
    return with_gil([&] {
      const nb::object opened = object_of(lease);
      const nb::object sink =
          nb::cast(new RowSink(shape_of(opened.attr("rows")), context), nb::rv_policy::take_ownership);
      const nb::object parts = opened.attr("leave_on_disk")(sink);
      Reading reading = reading_of(parts, nb::cast<RowSink&>(sink).finish(), where, context);
      context.process = process_memory();  // what the reader held meanwhile
      return reading;
    });
  };
  return file;
}

// Text that Python unpacks, piece by piece (tamis/_readers/packed.py).
class PackedStream final : public ByteStream {
 public:
  PackedStream(std::string where, std::shared_ptr<const void> packed, std::uint64_t limit, Context& context)
      : ByteStream(std::move(where)), packed_(std::move(packed)), limit_(limit), context_(context) {}

  std::size_t read(void* out, std::size_t size) override {
    const std::size_t count = with_gil([&] {
      const auto piece = nb::cast<nb::bytes>(object_of(packed_).attr("read")(std::min(size, kPieceBytes)));
      std::memcpy(out, piece.c_str(), piece.size());
      return piece.size();
    });
    total_ += count;
    context_.bytes_read(total_, 0);
    require(total_ <= limit_, ErrorCode::resources, where(), ": unpacks to more than ", limit_,
            " bytes, the most that the memory limit allows");
    return count;
  }

 private:
  static constexpr std::size_t kPieceBytes = std::size_t{1} << 20;
  std::shared_ptr<const void> packed_;
  std::uint64_t limit_, total_ = 0;
  Context& context_;
};

OpenedFile packed_file(const nb::object& packed, const std::string& where, const ReadOptions& options,
                       Context& context) {
  const std::string name = lower_case(to_bytes(packed.attr("name")));
  const char delimiter = name.ends_with(".tsv") || name.ends_with(".tab") ? '\t' : '\0';
  const std::uint64_t budget = memory_budget(context);
  const std::uint64_t limit = budget > UINT64_MAX / kTextFactor ? UINT64_MAX : budget * kTextFactor;
  OpenedFile file;
  file.load = [=, lease = lease_of(packed), &context] {
    PackedStream stream(where, lease, limit, context);
    return read_csv(stream, delimiter, options, context);
  };
  return file;
}

nb::tuple text_tuple(const std::vector<std::string>& texts) {
  nb::list out;
  for (const auto& one : texts) out.append(to_text(one));
  return nb::tuple(out);
}

nb::dict keywords_of(const ReadOptions& options, const Context& context) {
  nb::dict keywords;
  keywords["array"] = to_text(options.array);
  keywords["id_column"] = to_text(options.id_column);
  keywords["labels"] = text_tuple(options.labels);
  keywords["text_columns"] = text_tuple(options.text_columns);
  keywords["transpose"] = options.transpose;
  keywords["memory_limit"] = context.memory_limit;
  keywords["format"] = to_text(options.format);
  keywords["missing_kept"] = options.missing != Missing::refuse;
  return keywords;
}

nb::dict dict_of_table(const Table& table) {
  nb::dict labels;
  for (const auto& [word, found] : table.labels) {
    nb::dict one;
    one["classes"] = to_array(found.classes);
    one["names"] = text_tuple(found.names);
    labels[to_text(word)] = one;
  }
  nb::dict out;
  out["X"] = table.source.store().in_memory() ? view_of(table.source) : nb::cast(DiskRows{table.source});
  out["names"] = text_tuple(table.names);
  out["row_ids"] = text_tuple(table.row_ids);
  out["labels"] = labels;
  out["excluded_columns"] = text_tuple(table.excluded_columns);
  out["format"] = table.format;
  out["notes"] = text_tuple(table.notes);
  return out;
}

ReadOptions::Header header_of(const std::string& word) {
  if (word == "auto") return ReadOptions::Header::automatic;
  require(word == "yes" || word == "no", ErrorCode::usage, "header = ", word, ", need auto, yes or no");
  return word == "yes" ? ReadOptions::Header::yes : ReadOptions::Header::no;
}

}  // namespace

ForeignReader foreign_reader(const nb::object& reader) {
  if (reader.is_none()) return {};
  return [lease = lease_of(reader)](const std::string& path, const ReadOptions& options, Context& context) {
    return with_gil([&] {
      const nb::object opened = object_of(lease)(nb::bytes(path.data(), path.size()), **keywords_of(options, context));
      const std::string where = printable(path, path.size());
      if (nb::hasattr(opened, "read")) return packed_file(opened, where, options, context);
      return opened_file(opened, where, context);
    });
  };
}

app::FigureSaver figure_saver(const nb::object& saver) {
  if (saver.is_none()) return {};
  return [lease = lease_of(saver)](const std::string& folder, const std::string& format) {
    const nb::gil_scoped_acquire gil;
    try {
      object_of(lease)(nb::bytes(folder.data(), folder.size()), format);
    } catch (nb::python_error& error) {
      // What is not installed was asked for: no fault of the data.
      throw Error(error.matches(PyExc_ImportError) ? ErrorCode::usage : code_of(error), message_of(error));
    }
  };
}

nb::dict read(const nb::bytes& path, const std::string& array, const std::string& header, const std::string& id_column,
              const std::vector<std::string>& labels, const std::vector<std::string>& text_columns, bool transpose,
              bool on_disk, const std::string& missing, const std::string& thousands, const std::string& format,
              Index skip, const nb::object& reader, std::uint64_t memory, const nb::dict& words) {
  ReadOptions options;
  options.array = array;
  options.header = header_of(header);
  options.id_column = id_column;
  options.labels = labels;
  options.text_columns = text_columns;
  options.transpose = transpose;
  options.missing = parse_missing(missing);
  options.thousands = thousands;
  options.format = format;
  options.skip = skip;
  options.foreign = foreign_reader(reader);
  Run run(0, 0, memory, nb::none());
  const Speller speller = python_names(words);
  const std::string name(path.c_str(), path.size());
  const Table table = speaking(speller, [&] {
    return run.without_gil([&] {
      Opened opened = open_table(name, options, run.context());
      return on_disk && opened.rows() ? opened.leave_on_disk() : opened.load();
    });
  });
  nb::dict out = dict_of_table(table);
  out["warnings"] = spelled(run.warnings(), speller);
  return out;
}

nb::dict without_missing(const nb::object& data, const std::string& missing, const std::vector<std::string>& names,
                         const nb::dict& words) {
  return speaking(python_names(words), [&] {
    const Missing how = parse_missing(missing);
    Table table;
    table.source = source_of(data);
    table.names = names;
    Run run(0, 0, 0, nb::none());
    run.without_gil([&] {
      treat_missing(table, how, "X", run.context());
      return 0;
    });
    nb::dict out;
    out["X"] = table.notes.empty() ? data : view_of(table.source);
    out["columns"] = table.columns.empty() ? nb::none() : to_array(std::move(table.columns));
    out["rows"] = table.kept_rows.empty() ? nb::none() : to_array(std::move(table.kept_rows));
    out["note"] = table.notes.empty() ? std::string() : table.notes.front();
    return out;
  });
}

}  // namespace tamis::python
