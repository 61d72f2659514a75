#include "apps/viewer/panels/contact_details.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <imgui.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/number_table.h"
#include "apps/viewer/panels/plot.h"
#include "apps/viewer/panels/widgets.h"

namespace abut::viewer {
namespace {

/// A bar as long as an indicator, in its colour.
void indicator_bar(const char* name, double value) {
  ImGui::AlignTextToFramePadding();
  ImGui::TextUnformatted(name);
  ImGui::SameLine(0.35f * ImGui::GetWindowContentRegionMax().x);
  ImGui::PushStyleColor(ImGuiCol_PlotHistogram, packed(sequential_colour(value)));
  // Dark colours of the scale for small values leave the words legible, which would not be so on yellow.
  ImGui::ProgressBar(std::isfinite(value) ? static_cast<float>(value) : 0.0f, {-1.0f, 0.0f}, "");
  ImGui::PopStyleColor();
  const ImVec2 lower = ImGui::GetItemRectMin(), upper = ImGui::GetItemRectMax();
  const std::string text = fmt::format("{:.4f}", value);
  const ImVec2 size = ImGui::CalcTextSize(text.c_str());
  const ImVec2 at{0.5f * (lower.x + upper.x - size.x), 0.5f * (lower.y + upper.y - size.y)};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled({at.x - 3.0f, at.y}, {at.x + size.x + 3.0f, at.y + size.y}, IM_COL32(0, 0, 0, 150),
                     3.0f);
  list.AddText(at, IM_COL32_WHITE, text.c_str());
}

void draw_contact_numbers(const ContactView& view, std::string& all) {
  const Contact& contact = view.contact;
  NumberTable table("numbers", &all);
  table.number("Distance", contact.signed_distance, "m");
  table.vector("Normal", contact.normal_AB_W, "");
  table.vector("Point", contact.point_W, "m");
  if (view.inspection.known) {
    table.vector("Witness on A", view.inspection.witness_A_W, "m");
    table.vector("Witness on B", view.inspection.witness_B_W, "m");
  }
  table.number("Area", contact.area, "m²");
  table.number("Activity", contact.activity, "");
  table.number("Its weight", contact.weight, "without penetration");
  if (!view.has_force) return table.text("Force", "none of its own is known: see that of the pair");
  const ContactForce& force = view.force;
  const Vec3<double> friction = force.force_B_W - force.normal_force() * force.normal_AB_W.normalized();
  table.vector("Force on B", force.force_B_W, "N");
  table.number("normal", force.normal_force(), "N");
  table.number("friction", friction.norm(), "N");
  table.number("Coefficient", force.friction, "");
  table.text("used", fmt::format("{:.1f} %", 100.0 * force.friction_use()));
  table.number("Slip", force.slip_W.norm(), "m/s");
}

void draw_contact_curves(double time, const Selection::Pinned& pinned) {
  PlotOptions options;
  options.cursor = time;
  options.height = 4.5f;
  options.title = "Distance";
  options.unit = "mm";
  options.scale = 1e3;
  plot("distance", pinned.time, pinned.distance, options);
  options.title = "Normal force";
  options.unit = "N";
  options.scale = 1.0;
  options.from_zero = true;
  options.colour = k_force_colour;
  plot("force", pinned.time, pinned.force, options);
  options.title = "Activity";
  options.unit = "";
  options.colour = rgb(0, 158, 115);
  plot("activity", pinned.time, pinned.activity, options);
}

void draw_pinned_contact(const Frame& frame, const Selection::Pinned& pinned, std::string& all) {
  const std::string bodies = bodies_text(*frame.model, pinned.feature);
  show_text(bodies);
  all += fmt::format("Contact\t{} {}, {}\n", kind_name(pinned.feature.kind), features_text(pinned.feature),
                     bodies);
  const auto place = std::find_if(frame.contacts.begin(), frame.contacts.end(), [&](const ContactView& view) {
    return Selection::same(view.contact.feature, pinned.feature);
  });
  if (place == frame.contacts.end()) {
    show_note("It is not among the contacts of this moment.");
  } else {
    draw_contact_numbers(*place, all);
    indicator_bar("activity", place->contact.activity);
    if (place->inspection.known) {
      for (const Indicator factor : factors_of(pinned.feature.kind))
        indicator_bar(k_indicator_names[static_cast<std::size_t>(factor)], indicator_of(*place, factor));
    }
  }
  draw_contact_curves(frame.state.time, pinned);
}

}  // namespace

void push_feature_id(const ContactFeature& feature) {
  const int numbers[] = {static_cast<int>(feature.kind), feature.body_A, feature.body_B, feature.feature_A,
                         feature.feature_B};
  const auto* const bytes = reinterpret_cast<const char*>(numbers);
  ImGui::PushID(bytes, bytes + sizeof numbers);
}

void draw_pinned_contacts(PanelContext& context, std::string& all) {
  if (context.selection.pinned.empty()) return;
  if (wide_button("Unpin all contacts")) context.selection.pinned.clear();
  std::vector<ContactFeature> to_unpin;
  const int bodies = context.frame.model->model().body_count();
  for (const Selection::Pinned& pinned : context.selection.pinned) {
    if (pinned.feature.body_A < 0 || pinned.feature.body_B >= bodies) continue;  // of another scene
    push_feature_id(pinned.feature);
    bool keep = true;
    // A header does not wrap: the names of the bodies, of any length, stand below it.
    const std::string title =
        fmt::format("{}: {}###pinned", kind_name(pinned.feature.kind), features_text(pinned.feature));
    if (ImGui::CollapsingHeader(title.c_str(), &keep, ImGuiTreeNodeFlags_DefaultOpen))
      draw_pinned_contact(context.frame, pinned, all);
    if (!keep) to_unpin.push_back(pinned.feature);
    ImGui::PopID();
  }
  for (const ContactFeature& feature : to_unpin) context.selection.toggle_pin(feature);
}

void draw_contacts_of_pair(PanelContext& context, const BodyPair& bodies) {
  constexpr int k_most_rows = 8;  // without scrolling, so that what comes below is near
  const auto is_of_pair = [&](const ContactView& view) {
    return body_pair(view.contact.feature.body_A, view.contact.feature.body_B) == bodies;
  };
  const auto& contacts = context.frame.contacts;
  const auto count = static_cast<int>(std::count_if(contacts.begin(), contacts.end(), is_of_pair));
  const float height =
      static_cast<float>(std::min(count, k_most_rows)) * ImGui::GetTextLineHeightWithSpacing();
  const bool is_visible = ImGui::BeginChild("contacts of the pair", {0.0f, std::max(1.0f, height)});
  int row = 0;
  for (const ContactView& view : contacts) {
    if (!is_visible || !is_of_pair(view)) continue;
    const ContactFeature& feature = view.contact.feature;
    push_feature_id(feature);
    ImGui::PushID(feature.kind == ContactKind::blended ? row++ : -1);  // means have no feature of their own
    const std::string label = fmt::format("{}: {}, {}", kind_name(feature.kind), features_text(feature),
                                          view.has_force ? three_digits(view.force.normal_force(), "N")
                                                         : three_digits(view.contact.signed_distance, "m"));
    if (ImGui::Selectable(label.c_str(), context.selection.is_pinned(feature)))
      context.selection.toggle_pin(feature);
    ImGui::PopID();
    ImGui::PopID();
  }
  ImGui::EndChild();
}

}  // namespace abut::viewer
