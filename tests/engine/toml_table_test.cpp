#include "engine/toml_table.h"

#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "tests/support/malformed.h"
#include "tests/support/temporary_folder.h"

using namespace abut;

TEST_CASE("closest_word: finds what was meant, and nothing where nothing is close", "[engine][value]") {
  const std::vector<std::string> words{"friction", "stiffness", "fixed", "force", "steps", "mass"};
  CHECK(closest_word("frction", words) == "friction");
  CHECK(closest_word("firction", words) == "friction");
  CHECK(closest_word("Friction", words) == "friction");
  CHECK(closest_word("frictions", words) == "friction");
  CHECK(closest_word("stifness", words) == "stiffness");
  CHECK(closest_word("step", words) == "steps");
  CHECK(closest_word("mas", words) == "mass");
  CHECK(closest_word("colour", words) == "");
  CHECK(closest_word("", words) == "");
  CHECK(closest_word(std::string(1000, 'x'), words) == "");
}

TEST_CASE("NumberRange: contains what its text says", "[engine][value]") {
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(positive().contains(1e-300));
  CHECK_FALSE(positive().contains(0.0));
  CHECK_FALSE(positive().contains(infinity));
  CHECK(positive_or_infinite().contains(infinity));
  CHECK(at_least(0.0).contains(0.0));
  CHECK_FALSE(at_least(0.0).contains(-1e-300));
  CHECK(between(0.02, 1.9).contains(0.02));
  CHECK(between(0.02, 1.9).contains(1.9));
  CHECK_FALSE(between(0.02, 1.9).contains(1.9000001));
  CHECK_FALSE(any_number().contains(infinity));
  for (const NumberRange& range :
       {any_number(), positive(), positive_or_infinite(), at_least(-5), between(0, 1)}) {
    CHECK_FALSE(range.contains(nan));
    CHECK_FALSE(range.contains(-infinity));
  }
  CHECK(between(0.02, 1.9).text() == "[0.02, 1.9]");
  CHECK(positive().text() == "> 0, finite");
  CHECK(positive_or_infinite().text() == "> 0, or inf");
}

TEST_CASE("TomlTable: knows every key that it was asked for, and no other", "[engine][value]") {
  const test::TemporaryFolder folder;
  const auto file =
      folder.write("a.toml", "one = 1\ntwo = 2.5\n[three]\nfour = [1, 2, 3]\nfive = 5\n[[six]]\n[[six]]\n");
  const TomlTable table = TomlTable::read(file);
  CHECK(table.integer("one", 7, 0) == 1);
  CHECK(table.number("one", 7, any_number()) == 1.0);
  CHECK(table.number("two", 7, any_number()) == 2.5);
  CHECK(table.number("not there", 7, any_number()) == 7.0);
  const TomlTable three = table.table("three");
  CHECK(three.vector3("four", Vec3<double>::Zero()) == Vec3<double>(1, 2, 3));
  CHECK(table.tables("six").size() == 2);
  CHECK_NOTHROW(table.finish());
  CHECK(test::missing_part(test::rejection([&] {
                             three.finish();
                             return 0;
                           }),
                           {"a.toml:5: unknown key 'five' in three, allowed: four"}) == "");
  CHECK_NOTHROW(table.table("not there").finish());
  CHECK(test::missing_part(test::rejection([&] { return table.integer("two", 0, 0); }),
                           {"a.toml:2: two = 2.5, allowed: a whole number >= 0"}) == "");
  CHECK(test::missing_part(test::rejection([&] { return table.boolean("one", false); }),
                           {"a.toml:1: one = 1, allowed: true or false"}) == "");
}
