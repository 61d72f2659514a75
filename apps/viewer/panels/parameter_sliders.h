/// Sliders of the parameters that a gradient was taken by: what the gradient predicts of other values, beside
/// what they lead to. Part of the gradient panel.
#pragma once

#include "apps/viewer/panels/panel.h"

namespace abut::viewer {

class ParameterSliders {
 public:
  void draw(PanelContext& context, const GradientResult& result);

 private:
  void draw_list(ParameterStudy& study, const GradientResult& result);
  void show_motion(PanelContext& context) const;

  bool shows_motion_ = true;
  int body_ = -1;  // whose parameters are listed; -1: all
  int rows_ = 8;
};

}  // namespace abut::viewer
