#include "dynamics/step/run_warnings.h"

#include <catch2/catch.hpp>

using namespace abut;

namespace {

StepReport report_of(StepWarning::Kind kind, int body, int other, double value) {
  StepReport report;
  report.warnings[static_cast<std::size_t>(kind)] = {body, other, value};
  return report;
}

}  // namespace

TEST_CASE("RunWarnings: a pair of bodies is named once, at its worst, and rounding once in all",
          "[dynamics][value]") {
  using Kind = StepWarning::Kind;
  RunWarnings warnings;
  warnings.add(3, report_of(Kind::heavy_on_light, 1, 2, 20.0));
  warnings.add(4, report_of(Kind::heavy_on_light, 1, 2, 50.0));
  warnings.add(5, report_of(Kind::heavy_on_light, 1, 3, 30.0));
  warnings.add(6, report_of(Kind::rounding, 4, -1, 1e-11));
  warnings.add(7, report_of(Kind::rounding, 5, -1, 3e-11));
  warnings.add(8, report_of(Kind::rounding, 4, -1, 2e-11));
  const auto& entries = warnings.entries();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].worst.value == 50.0);
  CHECK(entries[0].first_step == 3);
  CHECK(entries[0].steps == 2);
  CHECK(entries[1].worst.other == 3);
  CHECK(entries[2].kind == Kind::rounding);
  CHECK(entries[2].worst.body == 5);
  CHECK(entries[2].worst.value == 3e-11);
  CHECK(entries[2].first_step == 6);
  CHECK(entries[2].steps == 3);
}
