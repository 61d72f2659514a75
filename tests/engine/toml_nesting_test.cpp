#include "engine/toml_nesting.h"

#include <string>

#include <catch2/catch.hpp>

#include "engine/scene_writer.h"
#include "engine/toml_table.h"
#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

namespace {

std::string repeated(const std::string& text, int count) {
  std::string result;
  for (int i = 0; i < count; ++i) result += text;
  return result;
}

}  // namespace

TEST_CASE("TOML nesting: refuses deep nesting in keys, headers, arrays and inline tables",
          "[engine][value]") {
  const test::TemporaryFolder folder;
  constexpr int k_deep = 100'000;
  const std::string many = "\n\n" + repeated("a.", k_deep);
  for (const std::string& text :
       {many + "a = 1", "\n\n[" + repeated("a.", k_deep) + "a]", "\n\n[[" + repeated("a.", k_deep) + "a]]",
        "\n\na = " + repeated("[", k_deep), "\n\na = " + repeated("{a=", k_deep),
        "\n\na = [{" + repeated("a.", k_deep) + "a = 1}]",
        "[" + repeated("a.", 40) + "a]\n\n" + repeated("a.", 40) + "a = 1",
        "\n\na = {b = \"\"\"x\"\"\"\"\", c = {" + repeated("a.", k_deep) + "a = 1}}",
        "\n\na = {b = '''x''''', c = {" + repeated("a.", k_deep) + "a = 1}}"}) {
    const auto file = folder.write("deep.toml", text);
    CAPTURE(text.substr(0, 40));
    CHECK(test::rejection([&] { return TomlTable::read(file); }) ==
          file.string() + ":3: nested deeper than 64 levels");
    CHECK(test::rejection([&] { return scene_files(file); }) ==
          file.string() + ":3: nested deeper than 64 levels");
  }
}

TEST_CASE("TOML nesting: dots and brackets in strings, comments and numbers are no nesting",
          "[engine][value]") {
  const std::string dots = repeated(".", 200), brackets = repeated("[{", 200);
  CHECK(first_line_nested_deeper("a = \"" + dots + "\\\"" + brackets + "\"\n", 10) == 0);
  CHECK(first_line_nested_deeper("a = '" + dots + brackets + "\\'\n", 10) == 0);
  CHECK(first_line_nested_deeper("a = \"\"\"\n" + dots + "\"\n" + brackets + "\"\"\"\n", 10) == 0);
  CHECK(first_line_nested_deeper("# " + dots + brackets + "\n", 10) == 0);
  CHECK(first_line_nested_deeper("a = [" + repeated("1.5, ", 200) + "]\n", 10) == 0);
  CHECK(first_line_nested_deeper(repeated("[[a.b]]\nc.d = 1.5\n", 200), 10) == 0);
  CHECK(first_line_nested_deeper("a = [" + repeated("[1.5],\n", 200) + "]\n", 10) == 0);
}

TEST_CASE("TOML nesting: counts each part of a key, each header and each bracket once", "[engine][value]") {
  CHECK(first_line_nested_deeper("a = 1", 1) == 1);  // a key and its value
  CHECK(first_line_nested_deeper("a = 1", 2) == 0);
  CHECK(first_line_nested_deeper("a.b = 1", 2) == 1);
  CHECK(first_line_nested_deeper("a.b = 1", 3) == 0);
  CHECK(first_line_nested_deeper("[a]\nb = [1]", 3) == 2);
  CHECK(first_line_nested_deeper("[a]\nb = [1]", 4) == 0);
  CHECK(first_line_nested_deeper("[[a.b]]\nc = {d = 1}", 6) == 2);
  CHECK(first_line_nested_deeper("[[a.b]]\nc = {d = 1}", 7) == 0);
}
