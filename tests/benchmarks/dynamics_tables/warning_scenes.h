/// Scenes as users make them, drawn at random, for the table of the warnings of gradients.
#pragma once

#include <cstdint>
#include <string>

#include "engine/config.h"
#include "tests/support/scenes.h"

namespace abut::tables {

/// A scene, how long it is simulated, and the body whose motion the loss is.
struct WarningScene {
  std::string family;
  test::TestScene scene;
  StepConfig config;
  int steps = 0;
  int body = -1;
};

/// Scene `index` of a sequence: stacks, rows, slides, rolls, drops, tosses, joints, chains and piles take turns with
/// situations of the truth suite, under several laws, time steps and coefficients of friction.
[[nodiscard]] WarningScene warning_scene(int index, std::uint64_t seed);

}  // namespace abut::tables
