#include "tamis/data/formats/npz.h"

#include <zlib.h>

#include "read_support.h"

namespace tamis {
namespace {

// Writes zip archives by hand, with whatever lies a test wants.
class Zip {
 public:
  struct Lies {
    int method = -1;
    unsigned flags = 0;
    std::int64_t size = -1;
    std::int64_t crc = -1;
    bool zip64 = false;
  };

  void add(const std::string& name, const std::string& bytes, bool compress, const Lies& lies) {
    const std::string body = compress ? deflated(bytes) : bytes;
    const auto crc =
        lies.crc >= 0
            ? static_cast<std::uint32_t>(lies.crc)
            : static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
    const auto method = static_cast<std::uint16_t>(lies.method >= 0 ? lies.method : compress ? 8 : 0);
    const auto flags = static_cast<std::uint16_t>(lies.flags);
    const std::uint64_t size = lies.size >= 0 ? static_cast<std::uint64_t>(lies.size) : bytes.size();
    const std::uint64_t offset = out_.size();
    const bool wide = lies.zip64 || size > 0xFFFFFFFF;
    const auto narrow = [&](std::uint64_t value) {
      return raw(wide ? 0xFFFFFFFFU : static_cast<std::uint32_t>(value));
    };
    const std::string extra = wide ? raw(std::uint16_t{1}) + raw(std::uint16_t{24}) + raw(size) +
                                         raw(std::uint64_t{body.size()}) + raw(offset)
                                   : "";
    const std::string common = raw(flags) + raw(method) + raw(std::uint32_t{0}) + raw(crc) + narrow(body.size()) +
                               narrow(size) + raw(static_cast<std::uint16_t>(name.size())) +
                               raw(static_cast<std::uint16_t>(extra.size()));
    out_ += std::string("PK\x03\x04") + raw(std::uint16_t{20}) + common + name + extra + body;
    directory_ += std::string("PK\x01\x02") + raw(std::uint16_t{20}) + raw(std::uint16_t{20}) + common +
                  std::string(10, '\0') + narrow(offset) + name + extra;
    ++count_;
  }
  void add(const std::string& name, const std::string& bytes, bool compress = true) {
    add(name, bytes, compress, Lies());
  }

  std::string bytes(bool zip64 = false, const std::string& comment = "") const {
    std::string end;
    if (zip64) {
      end += std::string("PK\x06\x06") + raw(std::uint64_t{44}) + raw(std::uint32_t{45 | 45 << 16}) +
             raw(std::uint64_t{0}) + raw(std::uint64_t{count_}) + raw(std::uint64_t{count_}) +
             raw(std::uint64_t{directory_.size()}) + raw(std::uint64_t{out_.size()});
      end += std::string("PK\x06\x07") + raw(std::uint32_t{0}) + raw(std::uint64_t{out_.size() + directory_.size()}) +
             raw(std::uint32_t{1});
    }
    const auto count = static_cast<std::uint16_t>(zip64 ? 0xFFFF : count_);
    end += std::string("PK\x05\x06") + raw(std::uint32_t{0}) + raw(count) + raw(count) +
           raw(zip64 ? 0xFFFFFFFFU : static_cast<std::uint32_t>(directory_.size())) +
           raw(zip64 ? 0xFFFFFFFFU : static_cast<std::uint32_t>(out_.size())) +
           raw(static_cast<std::uint16_t>(comment.size())) + comment;
    return out_ + directory_ + end;
  }

 private:
  std::string out_, directory_;
  std::uint64_t count_ = 0;
};

Reading parse(const std::string& bytes, const ReadOptions& options = {}, std::uint64_t limit = 0) {
  Context context(1);
  context.memory_limit = limit;
  return read_npz(open_random_memory(bytes, "x.npz"), options, context);
}

std::string refused(const std::string& bytes) {
  return error_of(ErrorCode::bad_data, [&] { parse(bytes); });
}

const std::string kArray = npy_of<double>("<f8", "(2, 2)", {1, 2, 3, 4});
const Rows kWanted = {{1, 2}, {3, 4}};

TEST(Npz, StoredDeflatedAndZip64) {
  for (const bool compress : {false, true}) {
    for (const bool zip64 : {false, true}) {
      Zip zip;
      Zip::Lies lies;
      lies.zip64 = zip64;
      zip.add("X.npy", kArray, compress, lies);
      EXPECT_EQ(values(parse(zip.bytes(zip64)).table.source), kWanted);
      EXPECT_EQ(values(parse(zip.bytes(zip64, "a comment")).table.source), kWanted);
    }
  }
}

TEST(Npz, ChoosesTheArray) {
  Zip zip;
  zip.add("arr_0.npy", kArray);
  EXPECT_EQ(values(parse(zip.bytes()).table.source), kWanted);
  zip.add("other.npy", npy_of<double>("<f8", "(2, 1)", {7, 8}));
  EXPECT_EQ(error_of(ErrorCode::usage, [&] { parse(zip.bytes()); }),
            "x.npz: no array X, --array takes one of arr_0, other");
  ReadOptions options;
  options.array = "other";
  EXPECT_EQ(values(parse(zip.bytes(), options).table.source), (Rows{{7}, {8}}));
}

TEST(Npz, LabelsByArrayName) {
  Zip zip;
  zip.add("X.npy", kArray);
  zip.add("y.npy", npy_of<std::int32_t>("<i4", "(2,)", {5, 3}));
  ReadOptions options;
  options.labels = {"y", "elsewhere"};
  const Reading reading = parse(zip.bytes(), options);
  EXPECT_EQ(reading.table.labels.at("y").classes, (std::vector<int>{1, 0}));
  EXPECT_EQ(reading.table.labels.size(), 1U);
  EXPECT_EQ(reading.label_choices, (std::vector<std::string>{"X", "y"}));
}

// 2 x 3 with a duplicate, an explicit zero and columns out of order: rows {0: 3, 2: 1} and {1: 5}.
std::string sparse(const std::string& format, const std::string& indptr, const std::string& indices,
                   const std::string& shape = npy_of<std::int64_t>("<i8", "(2,)", {2, 3})) {
  Zip zip;
  zip.add("indices.npy", indices);
  zip.add("indptr.npy", indptr);
  zip.add("format.npy", npy_bytes(npy_dict("|S3", "()"), format));
  zip.add("shape.npy", shape);
  zip.add("data.npy", npy_of<float>("<f4", "(5,)", {1, 1, 2, 0, 5}));
  return zip.bytes();
}
const std::string kIndptr = npy_of<std::int32_t>("<i4", "(3,)", {0, 3, 5});
const std::string kIndices = npy_of<std::int32_t>("<i4", "(5,)", {2, 0, 0, 0, 1});

TEST(Npz, ScipySparse) {
  const Table csr = parse(sparse("csr", kIndptr, kIndices)).table;
  EXPECT_TRUE(csr.source.sparse());
  EXPECT_EQ(csr.source.store().dtype(), DType::f32);
  EXPECT_EQ(csr.source.store().nonzeros(), 3);
  EXPECT_EQ(values(csr.source), (Rows{{3, 0, 1}, {0, 5, 0}}));
  const std::string turned = npy_of<std::int64_t>("<i8", "(2,)", {3, 2});
  EXPECT_EQ(values(parse(sparse("csc", kIndptr, kIndices, turned)).table.source), (Rows{{3, 0}, {0, 5}, {1, 0}}));
  ReadOptions options;
  options.transpose = true;
  EXPECT_EQ(values(parse(sparse("csr", kIndptr, kIndices), options).table.source), (Rows{{3, 0}, {0, 5}, {1, 0}}));
  EXPECT_EQ(values(parse(sparse("csc", kIndptr, kIndices, turned), options).table.source),
            (Rows{{3, 0, 1}, {0, 5, 0}}));
}

// Arrays that are rows as a store holds them, columns rising and no zeros, stay where they were read; all others, also
// those with wider indices, come to the same.
TEST(Npz, SparseRowsStayAsTheyAre) {
  const auto read = [](const std::string& indices, const std::string& data) {
    Zip zip;
    zip.add("indices.npy", indices);
    zip.add("indptr.npy", npy_of<std::int32_t>("<i4", "(4,)", {0, 2, 2, 4}));
    zip.add("format.npy", npy_bytes(npy_dict("|S3", "()"), "csr"));
    zip.add("shape.npy", npy_of<std::int64_t>("<i8", "(2,)", {3, 3}));
    zip.add("data.npy", data);
    return parse(zip.bytes()).table.source;
  };
  const Rows rows = {{1.5, 0, 2}, {0, 0, 0}, {0, -3, 4}};
  const std::string narrow = npy_of<std::int32_t>("<i4", "(4,)", {0, 2, 1, 2});
  const std::string wide = npy_of<std::int64_t>("<i8", "(4,)", {0, 2, 1, 2});
  const std::string doubles = npy_of<double>("<f8", "(4,)", {1.5, 2, -3, 4});
  const std::string floats = npy_of<float>("<f4", "(4,)", {1.5, 2, -3, 4});
  for (const std::string& indices : {narrow, wide}) {
    EXPECT_EQ(values(read(indices, doubles)), rows);
    EXPECT_EQ(values(read(indices, floats)), rows);
  }
  const std::string turned = npy_of<std::int32_t>("<i4", "(4,)", {2, 0, 1, 2});
  EXPECT_EQ(values(read(turned, npy_of<double>("<f8", "(4,)", {2, 1.5, -3, 4}))), rows);
  EXPECT_EQ(values(read(narrow, npy_of<std::int16_t>("<i2", "(4,)", {3, 2, -3, 4}))),
            (Rows{{3, 0, 2}, {0, 0, 0}, {0, -3, 4}}));
  EXPECT_EQ(read(narrow, npy_of<double>("<f8", "(4,)", {1.5, 0, -3, 4})).store().nonzeros(), 3);
}

// The same entries by row and column.
std::string coordinates(const std::vector<std::int32_t>& rows, const std::vector<std::int32_t>& cols) {
  Zip zip;
  zip.add("row.npy", npy_of<std::int32_t>("<i4", "(5,)", rows));
  zip.add("col.npy", npy_of<std::int32_t>("<i4", "(5,)", cols));
  zip.add("format.npy", npy_bytes(npy_dict("|S3", "()"), "coo"));
  zip.add("shape.npy", npy_of<std::int64_t>("<i8", "(2,)", {2, 3}));
  zip.add("data.npy", npy_of<float>("<f4", "(5,)", {1, 1, 2, 0, 5}));
  return zip.bytes();
}

TEST(Npz, ScipyCoordinates) {
  const std::string good = coordinates({0, 0, 0, 1, 1}, {2, 0, 0, 0, 1});
  EXPECT_EQ(values(parse(good).table.source), (Rows{{3, 0, 1}, {0, 5, 0}}));
  ReadOptions options;
  options.transpose = true;
  EXPECT_EQ(values(parse(good, options).table.source), (Rows{{3, 0}, {0, 5}, {1, 0}}));
  refused(coordinates({0, 0, 0, 1, 2}, {2, 0, 0, 0, 1}));
  refused(coordinates({0, 0, 0, 1, 1}, {2, 0, 0, 0, 3}));
  refused(coordinates({0, 0, 0, 1, -1}, {2, 0, 0, 0, 1}));
}

TEST(Npz, RefusesBadSparse) {
  refused(sparse("bsr", kIndptr, kIndices));
  refused(sparse("csr", npy_of<std::int32_t>("<i4", "(3,)", {0, 4, 3}), kIndices));
  refused(sparse("csr", npy_of<std::int32_t>("<i4", "(3,)", {0, -1, 5}), kIndices));
  refused(sparse("csr", npy_of<std::int32_t>("<i4", "(2,)", {0, 5}), kIndices));
  refused(sparse("csr", kIndptr, npy_of<std::int32_t>("<i4", "(5,)", {2, 0, 0, 0, 3})));
  refused(sparse("csr", kIndptr, npy_of<std::int32_t>("<i4", "(5,)", {2, 0, 0, 0, -1})));
  refused(sparse("csr", kIndptr, npy_of<double>("<f8", "(5,)", {2, 0, 0, 0, 0.5})));
  refused(sparse("csr", kIndptr, npy_of<std::int32_t>("<i4", "(4,)", {2, 0, 0, 0})));
  for (const Index size : {Index{-1}, Index{1} << 30, Index{1} << 40, Index{INT64_MAX}}) {
    refused(sparse("csr", kIndptr, kIndices, npy_of<std::int64_t>("<i8", "(2,)", {2, size})));
    refused(sparse("csr", kIndptr, kIndices, npy_of<std::int64_t>("<i8", "(2,)", {size, 3})));
  }
}

TEST(Npz, RefusesHostileMembers) {
  const auto with = [](const std::string& name, const std::string& bytes, bool compress, const Zip::Lies& lies) {
    Zip zip;
    zip.add(name, bytes, compress, lies);
    return zip.bytes();
  };
  for (const char* name : {"../x", "/X.npy", "a/../../X.npy", "..", "a\\X.npy"}) {
    EXPECT_NE(refused(with(name, kArray, true, {})).find("outside"), std::string::npos) << name;
  }
  Zip::Lies lies;
  lies.method = 12;
  EXPECT_NE(refused(with("X.npy", kArray, true, lies)).find("method 12"), std::string::npos);
  lies = {};
  lies.flags = 1;
  EXPECT_NE(refused(with("X.npy", kArray, true, lies)).find("encrypted"), std::string::npos);
  lies = {};
  lies.crc = 12345;
  EXPECT_NE(refused(with("X.npy", kArray, true, lies)).find("CRC"), std::string::npos);
  EXPECT_NE(refused(with("X.npy", kArray, false, lies)).find("CRC"), std::string::npos);
  lies = {};
  lies.size = 1 << 20;  // more than so few bytes can inflate to
  refused(with("X.npy", kArray, true, lies));
  lies.size = static_cast<std::int64_t>(kArray.size()) + 8;
  refused(with("X.npy", kArray, true, lies));
  refused(with("X.npy", kArray, false, lies));
  lies.size = std::int64_t{1} << 60;
  refused(with("X.npy", kArray, true, lies));
  refused(with("readme.txt", "hello", true, {}));
  Zip twice;
  twice.add("X.npy", kArray);
  twice.add("X.npy", kArray);
  EXPECT_NE(refused(twice.bytes()).find("two members"), std::string::npos);
}

TEST(Npz, BombIsRefusedBeforeItIsInflated) {
  const std::string array = npy_bytes(npy_dict("<f8", "(200000, 8)"), std::string(12800000, '\0'));
  Zip zip;
  zip.add("X.npy", array);
  const std::string bytes = zip.bytes();
  EXPECT_LT(bytes.size(), 100000U);
  error_of(ErrorCode::resources, [&] { parse(bytes, {}, 5000000); });
  EXPECT_EQ(parse(bytes).table.source.rows(), 200000);
}

TEST(Npz, CutAndDamagedAtEveryByte) {
  Zip zip;
  zip.add("X.npy", kArray);
  const std::string good = zip.bytes();
  for (std::size_t size = 0; size < good.size(); ++size) refused(good.substr(0, size));
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bytes = good;
    bytes[i] = static_cast<char>(bytes[i] ^ 0xFF);
    try {
      parse(bytes);
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal);
    }
  }
}

}  // namespace
}  // namespace tamis
