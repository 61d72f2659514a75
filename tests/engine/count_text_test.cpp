#include "engine/count_text.h"

#include <catch2/catch.hpp>

using namespace abut;

TEST_CASE("count_text: one of a thing is not many", "[engine][value]") {
  CHECK(count_text(1, "contact") == "1 contact");
  CHECK(count_text(0, "contact") == "0 contacts");
  CHECK(count_text(2u, "contact") == "2 contacts");
  CHECK(count_text(1, "vertex", "vertices") == "1 vertex");
  CHECK(count_text(std::size_t{3}, "vertex", "vertices") == "3 vertices");
}
