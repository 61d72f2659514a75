/// Steps whose solutions are near enough to the law's for differences of rollouts.
#pragma once

#include "engine/config.h"

namespace abut::test {

inline StepConfig precise_config(ContactLaw law) {
  StepConfig config;
  config.law = law;
  config.h = law == ContactLaw::penalty ? 2.5e-4 : 5e-3;
  config.tolerance = 1e-12;
  config.acceleration_scale = 9.81;
  return config;
}

}  // namespace abut::test
