/// What the smooth Coulomb law and its relatives (contact_laws/smooth_coulomb.h) take of a config and of
/// rows.
#pragma once

#include "dynamics/contact_laws/smooth_coulomb.h"
#include "dynamics/rows/contact_rows.h"
#include "engine/config.h"

namespace abut {

/// For steps of the config's length.
/// @param speed_scale  g h [m/s]
[[nodiscard]] smooth_coulomb::Settings smooth_coulomb_settings(const StepConfig& config, double speed_scale);
[[nodiscard]] smooth_coulomb::Parameters smooth_coulomb_parameters(const ContactRows& rows, std::size_t row);

}  // namespace abut
