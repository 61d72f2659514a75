/// Whether a gradient can be trusted, step by step: part of the gradient panel.
#pragma once

#include "apps/viewer/panels/panel.h"

namespace abut::viewer {

/// The adjoint's norm over the steps with what is remarkable of them, and the warnings. A click goes to the
/// step, and to the body that it is about.
void draw_gradient_health(PanelContext& context, const GradientResult& result);

/// The moment at the start of a step of the gradient, and the camera to a body (-1: none in particular) as it
/// is then, which is selected. Steps that were not simulated yet are.
void go_to_step(PanelContext& context, const GradientResult& result, int step, int body);

/// What there is to say of a step, a line each.
[[nodiscard]] std::string step_text(const GradientResult& result, int step);

}  // namespace abut::viewer
