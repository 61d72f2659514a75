#include "engine/npz.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "engine/atomic_file.h"
#include "engine/random.h"
#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

using Shape2 = std::array<std::size_t, 2>;

std::filesystem::path write_example(const test::TemporaryFolder& folder) {
  NpzWriter writer;
  const std::vector<double> matrix{1.0, -0.0, 1e-308, std::numeric_limits<double>::infinity(), 5.5, -6.25};
  const std::vector<std::int64_t> counts{-1, std::numeric_limits<std::int64_t>::max(), 3};
  writer.add("matrix", matrix, Shape2{2, 3});
  writer.add("counts", counts, std::array<std::size_t, 1>{3});
  writer.add("none", std::span<const double>{}, Shape2{0, 7});
  writer.add("time_step", 2e-3);
  writer.add("steps", std::int64_t{1000});
  const auto path = folder.path() / "example.npz";
  writer.write(path);
  return path;
}

}  // namespace

TEST_CASE("npz: arrays come back bit for bit", "[engine][value]") {
  const test::TemporaryFolder folder;
  const auto arrays = read_npz(write_example(folder));
  REQUIRE(arrays.size() == 5);
  const NpzArray& matrix = arrays.at("matrix");
  CHECK(matrix.shape == std::vector<std::size_t>{2, 3});
  CHECK(matrix.doubles() ==
        std::vector<double>{1.0, 0.0, 1e-308, std::numeric_limits<double>::infinity(), 5.5, -6.25});
  CHECK(std::signbit(matrix.doubles()[1]));
  CHECK(arrays.at("counts").integers() ==
        std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::max(), 3});
  CHECK(arrays.at("none").doubles().empty());
  CHECK(arrays.at("none").shape == std::vector<std::size_t>{0, 7});
  CHECK(arrays.at("time_step").shape.empty());
  CHECK(arrays.at("time_step").doubles() == std::vector<double>{2e-3});
  CHECK(arrays.at("steps").integers() == std::vector<std::int64_t>{1000});
  CHECK_THROWS_AS(arrays.at("steps").doubles(), std::invalid_argument);
  CHECK_THROWS_AS(arrays.at("matrix").integers(), std::invalid_argument);
}

TEST_CASE("npz: the same arrays give the same file, and other programs accept it", "[engine][value]") {
  const test::TemporaryFolder folder;
  const auto path = write_example(folder);
  const std::string first = read_file(path);
  CHECK(read_file(write_example(folder)) == first);

  // The header of .npy, version 1.0: magic, length, dictionary, padded so that the data start at a multiple
  // of 64.
  const std::size_t begin = first.find("\x93NUMPY");
  REQUIRE(begin != std::string::npos);
  CHECK(first.find("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }") != std::string::npos);
  CHECK(first.find("'shape': (3,), }") != std::string::npos);
  CHECK(first.find("'shape': (), }") != std::string::npos);

  if (std::system("unzip -v > /dev/null 2>&1") == 0) {
    CHECK(std::system(("unzip -tqq '" + path.string() + "' > /dev/null 2>&1").c_str()) == 0);
  } else {
    WARN("unzip is not installed");
  }
  if (std::system("python3 -c 'import zipfile' > /dev/null 2>&1") == 0) {
    const std::string command =
        "python3 -c 'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); "
        "sys.exit(z.testzip() is not None or len(z.namelist()) != 5)' '" +
        path.string() + "'";
    CHECK(std::system(command.c_str()) == 0);
  }
  if (std::system("python3 -c 'import numpy' > /dev/null 2>&1") == 0) {
    const std::string command =
        "python3 -c 'import sys, numpy; a = numpy.load(sys.argv[1]); "
        "sys.exit(not (a[\"matrix\"].shape == (2, 3) and a[\"matrix\"][1, 2] == -6.25 "
        "and a[\"steps\"] == 1000 and a[\"counts\"][0] == -1))' '" +
        path.string() + "'";
    CHECK(std::system(command.c_str()) == 0);
  }
}

TEST_CASE("npz: texts are NumPy's strings, whatever bytes they are of", "[engine][value]") {
  const test::TemporaryFolder folder;
  const std::vector<std::string> texts{"ball", "", "K\u00f6rper \u6f22 \U0001f600",
                                       "no \xff\xc3 UTF-8 \xed\xa0\x80"};
  NpzWriter writer;
  writer.add("texts", texts, Shape2{2, 2});
  writer.add("one", std::string("scene.toml"));
  writer.add("none", std::span<const std::string>{}, std::array<std::size_t, 1>{0});
  const auto path = folder.path() / "texts.npz";
  writer.write(path);
  const auto arrays = read_npz(path);
  CHECK(arrays.at("texts").texts() == texts);
  CHECK(arrays.at("texts").shape == std::vector<std::size_t>{2, 2});
  CHECK(arrays.at("one").texts() == std::vector<std::string>{"scene.toml"});
  CHECK(arrays.at("one").shape.empty());
  CHECK(arrays.at("none").texts().empty());
  CHECK_THROWS_WITH(arrays.at("one").doubles(), Catch::Contains("one of texts, not of doubles"));

  // Four bytes a character, the least first.
  const std::string bytes = read_file(path);
  CHECK(bytes.find("{'descr': '<U10', 'fortran_order': False, 'shape': (), }") != std::string::npos);
  CHECK(bytes.find(std::string("s\0\0\0c\0\0\0e\0\0\0n\0\0\0e\0\0\0", 20)) != std::string::npos);
  CHECK(bytes.find(std::string("\x22\x6f\0\0\x20\0\0\0\0\xf6\x01\0", 12)) != std::string::npos);
  CHECK(bytes.find(std::string("\xff\xdc\0\0\xc3\xdc\0\0", 8)) !=
        std::string::npos);  // as os.fsdecode has it
}

TEST_CASE("npz: refuses names used twice and shapes that do not fit", "[engine][value]") {
  NpzWriter writer;
  writer.add("a", 1.0);
  CHECK_THROWS_WITH(writer.add("a", 2.0), Catch::Contains("added before"));
  CHECK_THROWS_WITH(writer.add("", 2.0), Catch::Contains("name"));
  const std::vector<double> five(5);
  CHECK_THROWS_WITH(writer.add("b", five, Shape2{2, 3}),
                    Catch::Contains("'b': 5 values do not fill the shape (2, 3)"));
  CHECK_THROWS_AS(writer.add("c", five, Shape2{std::size_t{1} << 40, std::size_t{1} << 40}),
                  std::invalid_argument);
}

TEST_CASE("npz: a damaged archive is rejected with its name and the cause", "[engine][value]") {
  const test::TemporaryFolder folder;
  const std::string good = read_file(write_example(folder));
  const auto message_of = [&](const std::string& bytes) {
    const auto path = folder.write("bad.npz", bytes);
    return test::rejection([&] { return read_npz(path); });
  };
  CHECK(test::missing_part(message_of(""), {"bad.npz", "too short"}) == "");
  CHECK(test::missing_part(message_of(std::string(500, 'x')), {"bad.npz", "not a zip archive"}) == "");
  CHECK(test::missing_part(message_of(good.substr(0, good.size() / 2)), {"bad.npz", "its end is missing"}) ==
        "");
  std::string flipped = good;
  flipped[good.find("\x93NUMPY") + 135] ^= 1;
  CHECK(test::missing_part(message_of(flipped), {"bad.npz", "array '", "checksum"}) == "");
  CHECK(test::missing_part(test::rejection([&] { return read_npz(folder.path() / "no.npz"); }),
                           {"no.npz", "no such file"}) == "");
}

namespace {

/// What numpy.savez_compressed wrote of the arrays of write_example(), a text and 600 zeros.
std::string deflated_example() {
  return read_file(ABUT_SOURCE_DIR "/tests/fuzz/corpus/npz/seed_deflated.npz");
}

/// Sets a little-endian number.
void put_number(std::string& bytes, std::size_t at, std::uint32_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes[at + i] = static_cast<char>(value >> (8 * i));
}

}  // namespace

TEST_CASE("npz: what numpy.savez_compressed writes is read", "[engine][value]") {
  const test::TemporaryFolder folder;
  const auto arrays = read_npz(folder.write("deflated.npz", deflated_example()));
  REQUIRE(arrays.size() == 5);
  const NpzArray& matrix = arrays.at("matrix");
  CHECK(matrix.shape == std::vector<std::size_t>{2, 3});
  CHECK(matrix.doubles() ==
        std::vector<double>{1.0, 0.0, 1e-308, std::numeric_limits<double>::infinity(), 5.5, -6.25});
  CHECK(std::signbit(matrix.doubles()[1]));
  CHECK(arrays.at("counts").integers() ==
        std::vector<std::int64_t>{-1, std::numeric_limits<std::int64_t>::max(), 3});
  CHECK(arrays.at("zeros").doubles() == std::vector<double>(600));
  CHECK(arrays.at("none").shape == std::vector<std::size_t>{0, 7});
  CHECK(arrays.at("one").texts() == std::vector<std::string>{"scene.toml"});
}

TEST_CASE("npz: damaged compressed data have one error, which says so", "[engine][value]") {
  const test::TemporaryFolder folder;
  const std::string good = deflated_example();
  const auto message_of = [&](const std::string& bytes) {
    const auto path = folder.write("bad.npz", bytes);
    return test::rejection([&] { return read_npz(path); });
  };
  constexpr std::size_t k_flags = 8, k_method = 10, k_packed_size = 20,
                        k_size = 24;                           // in a directory's entry
  const std::size_t data = good.find("matrix.npy") + 10 + 20;  // after the extra field
  const std::size_t entry = good.find("PK\x01\x02");
  const auto with = [&](std::size_t at, std::uint32_t value, std::size_t width) {
    std::string bytes = good;
    put_number(bytes, entry + at, value, width);
    return message_of(bytes);
  };
  std::string flipped = good;
  flipped[data + 40] ^= 0x55;
  CHECK(test::missing_part(message_of(flipped), {"bad.npz", "'matrix.npy'", "damaged"}) == "");
  CHECK(test::missing_part(with(k_packed_size, 50, 4), {"'matrix.npy'", "end early"}) == "");
  CHECK(test::missing_part(with(k_size, 175, 4), {"'matrix.npy'", "damaged"}) == "");
  CHECK(test::missing_part(with(k_size, 177, 4), {"'matrix.npy'", "damaged"}) == "");
  CHECK(test::missing_part(with(k_size, 0xFFFFFFFE, 4), {"'matrix.npy'", "damaged"}) ==
        "");  // takes no memory
  CHECK(test::missing_part(with(k_size, 0xFFFFFFFF, 4), {"'matrix.npy'", "4 GiB"}) == "");
  CHECK(test::missing_part(with(k_method, 12, 2), {"'matrix.npy'", "method 12"}) == "");
  CHECK(test::missing_part(with(k_flags, 1, 2), {"'matrix.npy'", "encrypted"}) == "");
}

TEST_CASE("npz: no mutation of an archive makes the reader crash", "[engine][property]") {
  const test::TemporaryFolder folder;
  const bool is_deflated = GENERATE(false, true);
  const std::string good = is_deflated ? deflated_example() : read_file(write_example(folder));
  Random random(7);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = good;
    const std::uint64_t changes = 1 + random.integer(4);
    for (std::uint64_t k = 0; k < changes; ++k) {
      bytes[random.integer(bytes.size())] = static_cast<char>(random.integer(256));
    }
    if (random.integer(8) == 0) bytes.resize(random.integer(bytes.size()));
    const auto path = folder.write("mutated.npz", bytes);
    const std::string message = test::rejection([&] { return read_npz(path); });
    CAPTURE(i, message);
    REQUIRE((message == "accepted" || message.find("mutated.npz") != std::string::npos));
    REQUIRE(message.find("wrong exception") == std::string::npos);
  }
}
