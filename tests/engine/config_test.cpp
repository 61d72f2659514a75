#include "engine/config.h"

#include <cmath>
#include <limits>
#include <string>

#include <catch2/catch.hpp>

#include "engine/config_fields.h"

using namespace abut;

TEST_CASE("StepConfig: the defaults are valid", "[engine][value]") { CHECK_NOTHROW(validate(StepConfig())); }

TEST_CASE("StepConfig: validate names every bad field and its value", "[engine][value]") {
  StepConfig config;
  config.h = -0.5;
  config.tolerance = std::numeric_limits<double>::quiet_NaN();
  config.max_iterations = 0;
  config.contact.activity_smoothing = std::numeric_limits<double>::infinity();
  try {
    validate(config);
    FAIL("accepted");
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    CAPTURE(message);
    for (const char* part : {"time_step = -0.5, allowed: > 0", "tolerance = nan",
                             "max_iterations = 0, allowed: >= 1", "activity_smoothing = inf"}) {
      CHECK(message.find(part) != std::string::npos);
    }
    CHECK(message.find("penetration_growth") == std::string::npos);
  }
}

TEST_CASE("StepConfig: every field is checked, and acceleration_scale may be left to the default",
          "[engine][value]") {
  for (const StepConfigField& field : step_config_fields()) {
    CAPTURE(field.key);
    StepConfig config;
    if (const auto* number = std::get_if<double& (*)(StepConfig&)>(&field.get)) {
      (*number)(config) = 0.0;
      CHECK_THROWS_WITH(validate(config), Catch::Contains(std::string(field.key)));
      (*number)(config) = -1.0;
      if (field.negative_means_default) {
        CHECK_NOTHROW(validate(config));
      } else {
        CHECK_THROWS_WITH(validate(config), Catch::Contains(std::string(field.key)));
      }
      (*number)(config) = std::numeric_limits<double>::quiet_NaN();
      CHECK_THROWS_WITH(validate(config), Catch::Contains(std::string(field.key)));
      (*number)(config) = 0.5;
      CHECK_NOTHROW(validate(config));
    } else if (const auto* count = std::get_if<int& (*)(StepConfig&)>(&field.get)) {
      (*count)(config) = 0;
      CHECK_THROWS_WITH(validate(config), Catch::Contains(std::string(field.key)));
    }
  }
}

TEST_CASE("ContactConfig: every number and count is checked at both ends of its range", "[engine][value]") {
  int numbers = 0;
  for (const ContactField& field : contact_fields()) {
    if (const auto* number = std::get_if<ContactNumber>(&field)) {
      CAPTURE(number->key);
      ContactConfig config;
      for (const double bad : {number->lower, number->upper, std::numeric_limits<double>::quiet_NaN()}) {
        config.*number->value = bad;
        CHECK_THROWS_WITH(validate(config), Catch::Contains(std::string(number->key)));
      }
      config.*number->value = std::nextafter(number->lower, 1.0);
      CHECK_NOTHROW(validate(config));
      ++numbers;
    } else if (const auto* count = std::get_if<ContactCount>(&field)) {
      ContactConfig config;
      config.*count->value = count->lower - 1;
      CHECK_THROWS_WITH(validate(config), Catch::Contains(std::string(count->key)));
    }
  }
  CHECK(numbers == 14);
}

TEST_CASE("ContactConfig: a word that is none is refused, and so is one in a StepConfig", "[engine][value]") {
  StepConfig config;
  config.contact.reduction = static_cast<Reduction>(7);
  CHECK_THROWS_WITH(validate(config), Catch::Contains("reduction = 7, allowed: none, blend, cluster"));
  config.contact.reduction = Reduction::none;
  CHECK_NOTHROW(validate(config));
}
