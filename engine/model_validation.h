/// What every model must fulfil, in one place: bodies with mass, materials, pairs and joints.
#pragma once

#include "engine/model.h"

namespace abut {

/// Throws std::invalid_argument naming body, pair or joint, what is wrong with it and the value. Shapes are
/// validated one by one where bodies are made: require_valid() of a Primitive.
void validate(const Model& model);

}  // namespace abut
