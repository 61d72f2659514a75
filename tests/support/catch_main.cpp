#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "tests/support/samples.h"

namespace {

bool is_nightly = false;  // the test case that runs

struct TagListener : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    is_nightly = std::find(test.lcaseTags.begin(), test.lcaseTags.end(), "nightly") != test.lcaseTags.end();
  }
};
CATCH_REGISTER_LISTENER(TagListener)

}  // namespace

bool abut::test::draws_all_samples() {
  if (!is_nightly) throw std::logic_error("a test that draws a part of its samples lacks the tag [nightly]");
  static const bool all = [] {
    const char* const value = std::getenv("ABUT_ALL_SAMPLES");
    return value != nullptr && *value != '\0';
  }();
  return all;
}
