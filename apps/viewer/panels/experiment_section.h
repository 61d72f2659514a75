/// The experiment that is looked at: its motions and its unknowns. Part of the gradient panel.
#pragma once

#include "apps/viewer/panels/panel.h"

namespace abut::viewer {

/// Nothing unless the frame is of an experiment.
void draw_experiment(PanelContext& context);

}  // namespace abut::viewer
