#include "engine/instruction_set.h"

#include <algorithm>
#include <string>

#include <spdlog/fmt/fmt.h>
#include <catch2/catch.hpp>

#include "engine/processor.h"

using namespace abut;

TEST_CASE("instruction sets: each that this machine has is compiled or said to be left out",
          "[engine][value]") {
  const auto contains = [](std::span<const std::string_view> sets, std::string_view set) {
    return std::find(sets.begin(), sets.end(), set) != sets.end();
  };
  const std::span<const std::string_view> available = available_instruction_sets(),
                                          left_out = left_out_instruction_sets();
  if (!left_out.empty()) WARN(fmt::format("not compiled, hence not tested: {}", fmt::join(left_out, ", ")));
  REQUIRE(!available.empty());
  const bool has_base_alone = left_out.size() == 2;  // a build for one instruction set, such as a debug build
  CHECK(contains(available, "avx2") == (processor_has_avx2() && !has_base_alone));
  CHECK(contains(available, "avx512") == (processor_has_avx512() && !has_base_alone));
  for (const std::string_view set : left_out) CHECK_FALSE(contains(available, set));
  CHECK(contains(available, instruction_set()));
}
