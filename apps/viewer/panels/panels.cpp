#include "apps/viewer/panels/panel.h"

#include <algorithm>
#include <cctype>

namespace abut::viewer {

std::string Panel::name() const {
  std::string word = title_.substr(0, title_.find(' '));
  std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::tolower(c); });
  return word;
}

std::vector<std::unique_ptr<Panel>> make_panels() {
  std::vector<std::unique_ptr<Panel>> panels;
  panels.push_back(make_help_panel());
  panels.push_back(make_scene_panel());
  panels.push_back(make_simulation_panel());
  panels.push_back(make_inspector_panel());
  panels.push_back(make_settings_panel());
  panels.push_back(make_display_panel());
  panels.push_back(make_geometry_panel());
  panels.push_back(make_gradient_panel());
  panels.push_back(make_contacts_panel());
  panels.push_back(make_plots_panel());
  panels.push_back(make_recording_panel());
  return panels;
}

}  // namespace abut::viewer
