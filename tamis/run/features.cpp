#include "tamis/run/features.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "tamis/base/error.h"
#include "tamis/base/text/nearest.h"
#include "tamis/base/text/quote.h"
#include "tamis/base/text/spelling.h"

namespace tamis {

namespace {

constexpr std::string_view kRankingHeader = "rank,index,name,score,selected";

template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class Resolver {
 public:
  Resolver(const Table& table, std::string where, bool skip_left_out)
      : table_(table), where_(std::move(where)), skip_left_out_(skip_left_out) {
    for (std::size_t j = 0; j < table.names.size(); ++j) positions_.emplace(table.names[j], static_cast<Index>(j));
  }

  // Nothing for a column that may be passed over.
  std::optional<Index> operator()(const std::string& word) const {
    const auto [first, last] = positions_.equal_range(word);
    if (first != last) {
      require(std::next(first) == last, ErrorCode::usage, where_, ": ", std::distance(first, last),
              " columns are named '", printable(word), "', need one (give its position, counted from 0)");
      return first->second;
    }
    const bool left_out = std::find(table_.excluded_columns.begin(), table_.excluded_columns.end(), word) !=
                          table_.excluded_columns.end();
    if (left_out && skip_left_out_) return std::nullopt;
    require(!left_out, ErrorCode::usage, where_, ": column '", printable(word),
            "' holds text, labels or row identifiers, need a feature");
    return position(word);
  }

 private:
  Index position(const std::string& word) const {
    const Index count = table_.source.cols();
    const bool numbered = table_.names.empty() && word.size() > 1 && word[0] == 'f';
    const auto at = parse_whole<Index>(std::string_view(word).substr(numbered ? 1 : 0));
    require(at.has_value(), ErrorCode::usage, where_, ": no feature is named '", printable(word), "'",
            did_you_mean(word, table_.names));
    require(*at >= 0 && *at < count, ErrorCode::usage, where_, ": position ", *at, ", need 0..", count - 1);
    return *at;
  }

  const Table& table_;
  std::string where_;
  bool skip_left_out_;
  std::unordered_multimap<std::string, Index> positions_;
};

bool is_list_file(const std::string& text_value) {
  constexpr std::string_view kEndings[] = {".txt", ".csv", ".tsv", ".list"};
  const bool looks = text_value.find('/') != std::string::npos ||
                     std::any_of(std::begin(kEndings), std::end(kEndings),
                                 [&](std::string_view ending) { return text_value.ends_with(ending); });
  struct stat status {};
  return looks && stat(text_value.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

// The records of a CSV text: quotes may hide separators and line ends.
std::vector<std::vector<std::string>> csv_records(const std::string& content) {
  std::vector<std::vector<std::string>> records(1, std::vector<std::string>(1));
  bool quoted = false;
  for (const char byte : content) {
    if (byte == '"') {
      quoted = !quoted;
    } else if (quoted || (byte != ',' && byte != '\n')) {
      records.back().back() += byte;
    } else if (byte == ',') {
      records.back().emplace_back();
    } else {
      records.emplace_back(1);
    }
  }
  return records;
}

std::string read_whole(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.good(), ErrorCode::io, path, ": ", std::strerror(errno));
  std::string content{std::istreambuf_iterator<char>(file), {}};
  require(!file.bad(), ErrorCode::io, path, ": cannot be read");
  return content;
}

bool is_ranking(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(kRankingHeader.size(), '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return file.gcount() == static_cast<std::streamsize>(start.size()) && start == kRankingHeader;
}

std::vector<std::string> read_ranking(const std::string& path, bool selected_only) {
  const auto records = csv_records(read_whole(path));
  std::vector<std::string> words;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const auto& record = records[i];
    if (record.size() == 1 && record[0].empty()) continue;  // after the last line end
    require(record.size() >= 5 && parse_whole<Index>(record[1]).has_value(), ErrorCode::bad_data, path, ": record ",
            i + 1, ", need rank,index,name,score,selected,... as tamis writes them");
    if (!selected_only || record[4] == "1") words.push_back(record[1]);
  }
  return words;
}

}  // namespace

FeatureCount parse_feature_count(const std::string& text_value) {
  if (text_value == "auto") return {{}, {}, FeatureCount::Otherwise::automatic};
  if (text_value == "all") return {{}, {}, FeatureCount::Otherwise::all};
  if (const auto count = parse_whole<Index>(text_value)) {
    require(*count >= 1, ErrorCode::usage, "features = ", text_value, ", need a count of at least 1");
    return {count, std::nullopt, {}};
  }
  const auto fraction = parse_whole<double>(text_value);
  require(fraction && *fraction > 0.0 && *fraction < 1.0, ErrorCode::usage, "features = ", text_value,
          ", need a count of at least 1, a fraction between 0 and 1, auto or all");
  return {std::nullopt, fraction, {}};
}

Index resolve_count(const FeatureCount& wanted, Index available) {
  if (wanted.fraction) {
    return std::max<Index>(1, static_cast<Index>(std::llround(*wanted.fraction * static_cast<double>(available))));
  }
  const Index count = wanted.count.value_or(available);
  require(count >= 1 && count <= available, ErrorCode::usage, "features = ", count, ", need 1..", available);
  return count;
}

std::string feature_name(const Table& table, Index j) {
  return table.names.empty() ? text("f", j) : table.names[static_cast<std::size_t>(j)];
}

std::vector<std::string> list_words(const std::string& text_value, Context& context) {
  if (text_value.starts_with('@')) return read_list(text_value.substr(1), context);
  if (is_list_file(text_value)) return read_list(text_value, context);
  std::vector<std::string> words;
  for (std::size_t start = 0; start <= text_value.size();) {
    const std::size_t end = std::min(text_value.find(',', start), text_value.size());
    if (end > start) words.push_back(text_value.substr(start, end - start));
    start = end + 1;
  }
  return words;
}

std::vector<Index> resolve_features(const std::vector<std::string>& words, const Table& table, const std::string& where,
                                    bool skip_left_out) {
  if (words.empty()) return {};
  const Resolver resolve(table, where, skip_left_out);
  std::vector<Index> features;
  std::vector<char> seen(static_cast<std::size_t>(table.source.cols()), 0);
  for (const auto& word : words) {
    const auto feature = resolve(word);
    if (feature && !seen[static_cast<std::size_t>(*feature)]++) features.push_back(*feature);
  }
  return features;
}

std::vector<std::string> read_feature_list(const std::string& path, std::optional<Index> top, Context& context) {
  auto words = is_ranking(path) ? read_ranking(path, !top) : read_list(path, context);
  require(!words.empty(), ErrorCode::bad_data, path, ": 0 features in the list, need at least 1");
  if (top) {
    const auto count = static_cast<Index>(words.size());
    require(*top >= 1 && *top <= count, ErrorCode::usage, "top = ", *top, ", need 1..", count, " (the length of ", path,
            ")");
    words.resize(static_cast<std::size_t>(*top));
  }
  return words;
}

}  // namespace tamis
