/// Actions of what is shown: contacts side by side, the slice, primitives, curves of pinned contacts.
#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/viewer/panels/actions.h"

namespace abut::viewer {

void set_side_by_side(PanelContext& context, bool side_by_side) {
  context.display.side_by_side = side_by_side;
  context.simulation.post(
      [side_by_side](SimulationCore& core) { core.set_look_without_edges(side_by_side); });
}

void place_slice(PanelContext& context) {
  SliceDisplay& slice = context.display.slice;
  slice.centre = context.camera.target;
  slice.offset = 0.0;
  slice.size = context.camera.distance * std::tan(0.5 * context.camera.vertical_angle);
  slice.azimuth = context.camera.azimuth;
  slice.elevation = context.camera.elevation;
}

void next_primitive(PanelContext& context) {
  const Model& model = context.frame.model->model();
  int &body = context.display.primitive_body, &primitive = context.display.primitive;
  const auto count = [&](int b) {
    return b >= 0 && b < model.body_count()
               ? static_cast<int>(model.bodies[static_cast<std::size_t>(b)].shape.primitives.size())
               : 0;
  };
  const int wanted = context.selection.body;
  if (count(wanted) > 0 && body != wanted) {
    body = wanted;
    primitive = 0;
    return;
  }
  if (body >= 0 && primitive + 1 < count(body)) {
    ++primitive;
    return;
  }
  // After the last one of the selected body comes its first, of any body the first of the next, and at last
  // nobody's.
  primitive = 0;
  if (count(wanted) > 0) return;
  for (int b = body + 1; b < model.body_count(); ++b) {
    if (count(b) == 0) continue;
    body = b;
    return;
  }
  body = primitive = -1;
}

void sample_pinned(const Frame& frame, Selection& selection) {
  // Of another scene.
  const int bodies = frame.model->model().body_count();
  std::erase_if(selection.pinned, [&](const Selection::Pinned& p) { return p.feature.body_B >= bodies; });
  const auto time = static_cast<float>(frame.state.time);
  for (Selection::Pinned& pinned : selection.pinned) {
    std::vector<float>* const columns[] = {&pinned.time, &pinned.distance, &pinned.force, &pinned.activity};
    if (!pinned.time.empty() && time == pinned.time.back()) continue;
    if (!pinned.time.empty() && time < pinned.time.back()) {
      for (std::vector<float>* column : columns) column->clear();
    }
    if (pinned.time.size() >= k_most_samples) {
      for (std::vector<float>* column : columns) column->erase(column->begin());
    }
    const auto place = std::find_if(
        frame.contacts.begin(), frame.contacts.end(),
        [&](const ContactView& view) { return Selection::same(view.contact.feature, pinned.feature); });
    const bool is_there_now = place != frame.contacts.end();
    // A contact that is not there has a distance that nobody knows, and neither force nor activity.
    pinned.time.push_back(time);
    pinned.distance.push_back(is_there_now ? static_cast<float>(place->contact.signed_distance)
                                           : std::numeric_limits<float>::quiet_NaN());
    pinned.force.push_back(is_there_now && place->has_force ? static_cast<float>(place->force.normal_force())
                                                            : 0.0f);
    pinned.activity.push_back(is_there_now ? static_cast<float>(place->contact.activity) : 0.0f);
  }
}

}  // namespace abut::viewer
