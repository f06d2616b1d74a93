#include "tamis/data/formats/shards.h"

#include <dirent.h>
#include <glob.h>

#include <algorithm>
#include <optional>

#include "tamis/base/error.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/utf8.h"
#include "tamis/data/formats/bytes.h"
#include "tamis/data/formats/csv.h"
#include "tamis/data/formats/matrix_market.h"
#include "tamis/data/formats/npy.h"
#include "tamis/data/formats/npy_rows.h"
#include "tamis/data/formats/words.h"
#include "tamis/data/labels.h"
#include "tamis/data/passes/passes.h"
#include "tamis/data/stores/temporary_rows.h"

namespace tamis {

namespace {

enum class Kind { npy, text, other };

Kind kind_of_shard(const std::string& path) {
  std::string name = lower_case(path);
  if (name.ends_with(".npy")) return Kind::npy;
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return name.ends_with(".csv") || name.ends_with(".tsv") ? Kind::text : Kind::other;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Runs of digits by their value, everything else by bytes.
bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!is_digit(a[i]) || !is_digit(b[j])) {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i, ++j;
      continue;
    }
    const auto number = [](const std::string& text, std::size_t& at) {
      while (at < text.size() && text[at] == '0') ++at;
      const std::size_t begin = at;
      while (at < text.size() && is_digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    const std::string left = number(a, i), right = number(b, j);
    if (left.size() != right.size()) return left.size() < right.size();
    if (left != right) return left < right;
  }
  return a.size() - i < b.size() - j || (a.size() - i == b.size() - j && a < b);
}

std::vector<std::string> folder_files(const std::string& path) {
  std::vector<std::string> files;
  DIR* folder = ::opendir(path.c_str());
  require(folder != nullptr, ErrorCode::io, printable(path, path.size()), ": the folder cannot be read");
  while (const dirent* entry = ::readdir(folder)) {
    const std::string name = entry->d_name;
    if (name[0] != '.' && kind_of_shard(name) != Kind::other) files.push_back(path + '/' + name);
  }
  ::closedir(folder);
  return files;
}

std::vector<std::string> matching_files(const std::string& pattern) {
  glob_t found = {};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0) {
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  ::globfree(&found);
  return files;
}

// In order, all of one kind.
std::vector<std::string> shard_files(const std::string& path) {
  const std::string where = printable(path, path.size());
  const bool folder = file_exists(path);
  std::vector<std::string> files = folder ? folder_files(path) : matching_files(path);
  require(!files.empty(), folder ? ErrorCode::bad_data : ErrorCode::io, where,
          folder ? ": a folder without matrix.mtx, .npy, .csv or .tsv files, need a file, a 10x folder or shards"
                 : ": no file matches");
  std::sort(files.begin(), files.end(), natural_less);
  for (const std::string& file : files) {
    require(kind_of_shard(file) == kind_of_shard(files[0]) && kind_of_shard(file) != Kind::other, ErrorCode::bad_data,
            where, ": both ", printable(files[0], files[0].size()), " and ", printable(file, file.size()),
            ", need shards of one kind: all .npy, or all .csv and .tsv");
  }
  return files;
}

// One after the other.
class ShardRows final : public RowReader {
 public:
  ShardRows(std::vector<std::shared_ptr<const RowReader>> shards, Index rows)
      : RowReader({rows, shards[0]->cols(), shards[0]->dtype(), {}}), shards_(std::move(shards)) {
    for (const auto& shard : shards_) ends_.push_back((ends_.empty() ? 0 : ends_.back()) + shard->rows());
  }

  void read(Index first, Index count, std::byte* out) const override {
    for_each_part(first, count, [&](const RowReader& shard, Index begin, Index rows) {
      shard.read(begin, rows, out);
      out += shape().bytes_of(begin, rows);
    });
  }

  void expect(Index first, Index count) const override {
    for_each_part(first, count, [](const RowReader& shard, Index begin, Index rows) { shard.expect(begin, rows); });
  }

 private:
  template <class Visit>
  void for_each_part(Index first, Index count, Visit visit) const {
    auto at = std::upper_bound(ends_.begin(), ends_.end(), first) - ends_.begin();
    for (; count > 0; ++at) {
      const RowReader& shard = *shards_[at];
      const Index begin = first - (ends_[at] - shard.rows()), rows = std::min(count, shard.rows() - begin);
      visit(shard, begin, rows);
      first += rows;
      count -= rows;
    }
  }

  std::vector<std::shared_ptr<const RowReader>> shards_;
  std::vector<Index> ends_;  // the row after the last one of each shard
};

void require_like_first(const std::string& where, Index cols, const std::string& first, Index first_cols) {
  require(cols == first_cols, ErrorCode::bad_data, where, ": ", cols, " columns, ", printable(first, first.size()),
          " has ", first_cols);
}

Reading read_npy_shards(const std::vector<std::string>& files, Context& context) {
  std::vector<std::shared_ptr<const RowReader>> shards;
  Index rows = 0;
  for (const std::string& file : files) {
    shards.push_back(open_npy_rows(file, false, context));
    const std::string where = printable(file, file.size());
    require_like_first(where, shards.back()->cols(), files[0], shards[0]->cols());
    require(shards.back()->dtype() == shards[0]->dtype(), ErrorCode::bad_data, where, ": ",
            name_of(shards.back()->dtype()), ", ", printable(files[0], files[0].size()), " has ",
            name_of(shards[0]->dtype()));
    rows += shards.back()->rows();
  }
  Reading reading;
  reading.table.format = "npy";
  reading.table.source = on_disk(std::make_shared<ShardRows>(shards, rows), context);
  return reading;
}

// Everything of a text table but its numbers, row after row.
class TextShards {
 public:
  TextShards(const std::vector<std::string>& files, const std::string& where, Context& context)
      : files_(files), where_(where), context_(context), budget_(context, where) {}

  void add(const std::string& file, const ReadOptions& options) {
    const char delimiter = file.find(".tsv") != std::string::npos ? '\t' : '\0';
    const Index before = written_ ? written_->rows() : 0;
    Reading shard = read_csv(*open_text(file, context_), delimiter, options, context_, before);
    const std::string where = printable(file, file.size());
    treat_missing(shard.table, options.missing, where, context_);
    const Table& table = shard.table;
    if (!written_) {
      written_.emplace(table.source.cols(), DType::f64);
      first_ = shard;
      first_.table.source = Source();
    }
    require_like_first(where, table.source.cols(), files_[0], written_->cols());
    require(table.names == first_.table.names, ErrorCode::bad_data, where, ": column names differ from those of ",
            printable(files_[0], files_[0].size()));
    if (before > 0) first_.table.notes.insert(first_.table.notes.end(), table.notes.begin(), table.notes.end());
    for (const std::string& id : table.row_ids) add_word(ids_, id, budget_);
    for (const auto& [spec, labels] : table.labels) {
      LabelBuilder& builder = builders_.try_emplace(spec, budget_).first->second;
      for (const int c : labels.classes) {
        builder.add(c < 0 ? std::string() : labels.names[c]);
      }
    }
    written_->add(view_of(gather(table.source, context_)));
  }

  Reading finish() {
    require_shape(where_, written_->rows(), written_->cols());
    first_.table.source = on_disk(written_->finish(), context_);
    first_.table.row_ids = std::move(ids_);
    for (auto& [spec, builder] : builders_) first_.table.labels[spec] = builder.finish();
    return std::move(first_);
  }

 private:
  const std::vector<std::string>& files_;
  const std::string where_;
  Context& context_;
  Budget budget_;
  Reading first_;
  std::vector<std::string> ids_;
  std::map<std::string, LabelBuilder> builders_;
  std::optional<TemporaryRows> written_;  // made for the columns of the first
};

}  // namespace

bool names_shards(const std::string& path) {
  if (file_exists(path)) return file_kind(path) == FileKind::folder && !is_tenx_folder(path);
  return path.find_first_of("*?[") != std::string::npos;
}

Reading read_shards(const std::string& path, const ReadOptions& options, Context& context) {
  const std::vector<std::string> files = shard_files(path);
  require(!options.transpose, ErrorCode::usage, printable(path, path.size()),
          ": shards cannot be transposed, need features in columns");
  const bool dropped = options.missing == Missing::drop_rows && kind_of_shard(files[0]) == Kind::text;
  require(dropped || options.missing == Missing::refuse || options.missing == Missing::keep, ErrorCode::usage,
          printable(path, path.size()), ": the rows of shards stay on disk, so that ", Flag{"missing"},
          " can only drop rows, and only of text shards");
  if (kind_of_shard(files[0]) == Kind::npy) return read_npy_shards(files, context);
  TextShards shards(files, printable(path, path.size()), context);
  for (std::size_t i = 0; i < files.size(); ++i) {
    context.check_cancelled();
    const Stage stage(context, concat(i + 1, " of ", files.size(), " files"));
    shards.add(files[i], options);
  }
  return shards.finish();
}

}  // namespace tamis
