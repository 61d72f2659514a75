#include "engine/csv_table.h"

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

struct Tables {
  test::TemporaryFolder folder;
  [[nodiscard]] CsvTable read(const std::string& text, std::vector<std::string> known = {}) const {
    return CsvTable(folder.write("table.csv", text), std::move(known));
  }
};

}  // namespace

TEST_CASE("fields_of: blanks count within quotes only, and two quotes are one", "[engine][value]") {
  CHECK(fields_of("a, b ,\" c \",\"d, \"\"e\"\"\",") ==
        std::vector<std::string>{"a", "b", " c ", "d, \"e\"", ""});
  CHECK(fields_of("1,2\r") == std::vector<std::string>{"1", "2"});
}

TEST_CASE("CsvTable: columns are found by name, and lines are those of the file", "[engine][value]") {
  const Tables tables;
  const CsvTable table = tables.read("\xEF\xBB\xBF\n time ,\"height, z\",note\r\n0.5,-1e-3,x\n\n 1, 2,\n");
  CHECK(table.columns() == std::vector<std::string>{"time", "height, z", "note"});
  CHECK(table.header_line() == 2);
  REQUIRE(table.rows() == 2);
  CHECK(table.line(0) == 3);
  CHECK(table.line(1) == 5);
  CHECK(table.number(0, "height, z") == -1e-3);
  CHECK(table.number(1, "time") == 1.0);
  CHECK(table.text(0, "note") == "x");
  CHECK(table.text(1, "note").empty());
  CHECK(table.has_column("note"));
  CHECK_FALSE(table.has_column("speed"));
  CHECK(tables.read("time\n").rows() == 0);
}

TEST_CASE("CsvTable: mistakes are named by file, line and column", "[engine][value]") {
  const Tables tables;
  const auto number = [&](const std::string& field, double largest) {
    return test::rejection(
        [&] { return tables.read("time,height\n1," + field + "\n").number(0, "height", largest); });
  };
  const auto column = [&](const std::string& header, std::vector<std::string> known) {
    return test::rejection([&] {
      const CsvTable table = tables.read(header + "\n", std::move(known));
      table.require_columns({"time"}, "add the time");
      return 0;
    });
  };
  const auto table = [&](const std::string& text) {
    return test::rejection([&] { return tables.read(text); });
  };
  const std::pair<std::string, std::string> cases[] = {
      {table(" \n\n"), "table.csv: is empty: a header of column names is expected"},
      {table("a,b\n1,2,3\n"), "table.csv:2: 3 fields, expected the 2 of the header"},
      {table("a,b\n\n1,\"2\n"), "table.csv:3: a quote is not closed"},
      {column("time,time", {}), "table.csv:1: there are two columns 'time'"},
      {column("height", {}), "table.csv: there is no column 'time': add the time"},
      {column("tme", {}), "table.csv: there is no column 'time' (did 'tme' mean that?)"},
      {column("tme", {"tme"}), "table.csv: there is no column 'time': add the time"},
      {number("2 m", 10.0), "table.csv:2: column 'height' = '2 m', allowed: a number in [-10, 10]"},
      {number("11", 10.0), "table.csv:2: column 'height' = '11', allowed: a number in [-10, 10]"},
      {number("", 10.0), "table.csv:2: column 'height' = '', allowed: a number in [-10, 10]"},
  };
  for (const auto& [message, part] : cases) {
    CAPTURE(message);
    CHECK(test::missing_part(message, {part}).empty());
  }
  for (const std::string field : {"inf", "-inf", "nan", "1e999", "1x"}) {
    const std::string message =
        test::rejection([&] { return tables.read("time\n" + field + "\n").number(0, "time"); });
    CAPTURE(field, message);
    CHECK(
        test::missing_part(message, {"table.csv:2: column 'time' = '", "allowed: a finite number"}).empty());
  }
}
