#include <algorithm>
#include <iterator>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/actions.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"

namespace abut::viewer {
namespace {

constexpr const char* k_indicator_help[] = {
    "The product of all: what a contact weighs.",
    "How deep it lies: 0 from 4 tau_p away on, 1 from 4 tau_p deep on.",
    "Whether two edges pass each other between their ends.",
    "Whether the normal lies in the normal cones of both edges.",
    "Whether two edges are the surfaces of their bodies nearby.",
    "Of an edge in a solid: what its neighbours leave of it.",
    "Of the vertex, or of both edges, among the K that reach deepest.",
};
static_assert(std::size(k_indicator_help) == std::size(k_indicator_names));

void toggle(const char* label, bool& value, Action action, const char* help) {
  checkbox_with_key(label, value, key_text(action), help);
}

class DisplayPanel : public Panel {
 public:
  DisplayPanel() : Panel("Display", GLFW_KEY_F4, Pane::right, false) {}

  void draw(PanelContext& context) override {
    ContactDisplay& contacts = context.display.contacts;
    if (ImGui::BeginTable("glyphs", 2)) {
      ImGui::TableNextColumn();
      toggle("Points", contacts.points, Action::contact_points, "A ball at each contact's point.");
      ImGui::TableNextColumn();
      toggle("Normals", contacts.normals, Action::contact_normals, "An arrow from body A to body B.");
      ImGui::TableNextColumn();
      toggle("Forces", contacts.forces, Action::contact_forces,
             "Arrows of forces in the step from here, with their numbers.");
      ImGui::TableNextColumn();
      toggle("Stick or slip", contacts.friction_discs, Action::friction_discs,
             "A disc across the normal: blue where the contact sticks, vermilion where it slides.");
      ImGui::TableNextColumn();
      toggle("Witness points", contacts.witness_points, Action::witness_points,
             "On the surface of either body, with a line between them.");
      ImGui::TableNextColumn();
      toggle("Candidates", contacts.candidates, Action::candidates,
             "Vertices and edges among the K that reach deepest, by their weight of the soft choice.");
      ImGui::TableNextColumn();
      toggle("Friction cones", contacts.friction_cones, Action::friction_cones,
             "Of half-angle atan(mu) around forces, of sums where their contacts have one normal: vermilion "
             "where "
             "the force slides along the cone.");
      ImGui::TableNextColumn();
      toggle(
          "Pressure", contacts.pressure, Action::pressure,
          "Normal force by area, painted on the bodies' surfaces: each contact's force is spread around it.");
      ImGui::TableNextColumn();
      toggle(
          "Lens", context.display.lens, Action::lens,
          "The contacts of one pair enlarged: of the pinned contact, else of the selected body, else of the "
          "largest force. The wheel over it enlarges more.");
      ImGui::TableNextColumn();
      checkbox_with_key("Tables", contacts.tables, "",
                        "Numbers beside pinned contacts and the one under the mouse.");
      ImGui::EndTable();
    }
    if (contacts.forces || contacts.friction_cones) draw_force_sum(contacts);

    draw_kinds(context);
    draw_indicator(contacts);
    draw_sizes(context);

    draw_look(context.display.look);
    ImGui::Separator();
    bool side_by_side = context.display.side_by_side;
    if (checkbox_with_key("Side by side without edge-edge", side_by_side, key_text(Action::side_by_side),
                          "Left: as the scene has it. Right: the same moment if edges did not meet edges."))
      set_side_by_side(context, side_by_side);
    if (side_by_side) {
      show_note(fmt::format("{} left, {} right", count_text(context.frame.contacts.size(), "contact"),
                            context.frame.without_edges.size()));
    }
  }

 private:
  static void draw_look(PictureLook& look) {
    ImGui::Separator();
    show_text("Quality of the picture");
    ImGui::SameLine();
    if (ImGui::RadioButton("Full", look.quality == Quality::full)) look.quality = Quality::full;
    tooltip("With soft shadows and ambient occlusion.");
    ImGui::SameLine();
    if (ImGui::RadioButton("Plain", look.quality == Quality::plain)) look.quality = Quality::plain;
    tooltip("Without them, for machines without a graphics card.");
    ImGui::Checkbox("Outlines", &look.outlines);
    tooltip("Dark lines at silhouettes and sharp edges.");
  }

  static void draw_force_sum(ContactDisplay& contacts) {
    int sum = static_cast<int>(contacts.force_sum);
    if (combo("Forces of each", sum, k_force_sum_names, static_cast<int>(ForceSum::pair),
              "On body B of each contact, summed for each pair of bodies, or on each body by all "
              "others.\nKey: " +
                  key_text(Action::next_force_sum)))
      contacts.force_sum = static_cast<ForceSum>(sum);
    checkbox_with_key("Numbers", contacts.force_numbers, "",
                      "At the tips of arrows, as far as there is room.");
  }

  static void draw_kinds(PanelContext& context) {
    ContactDisplay& contacts = context.display.contacts;
    int counts[k_contact_kinds] = {};
    for (const ContactView& view : context.frame.contacts)
      ++counts[static_cast<int>(view.contact.feature.kind)];
    ImGui::Separator();
    show_text("Kinds that are shown");
    const auto kind = [&](const char* name, ContactKind of, bool& value, const char* key, const char* help) {
      checkbox_with_key(fmt::format("{}: {}###{}", name, counts[static_cast<int>(of)], name).c_str(), value,
                        key, help);
    };
    if (!ImGui::BeginTable("kinds", 2)) return;
    ImGui::TableNextColumn();
    kind("Vertex-SDF", ContactKind::vertex_sdf, contacts.vertex_sdf,
         key_text(Action::vertex_sdf_contacts).c_str(),
         "A contact point of one body in the signed distance function of the other.");
    ImGui::TableNextColumn();
    kind("Edge-edge", ContactKind::edge_edge, contacts.edge_edge,
         key_text(Action::edge_edge_contacts).c_str(), "An edge of one mesh across one of the other.");
    ImGui::TableNextColumn();
    kind("Edge-SDF", ContactKind::edge_sdf, contacts.edge_sdf, key_text(Action::edge_sdf_contacts).c_str(),
         "Where an edge enters and leaves the other's solid.");
    ImGui::TableNextColumn();
    kind("Convex parts", ContactKind::convex_parts, contacts.convex_parts, "",
         "Witness points of convex parts, and the patches of their flush faces.");
    ImGui::TableNextColumn();
    kind("Triangle-SDF", ContactKind::triangle_sdf, contacts.triangle_sdf, "",
         "The deepest point of a triangle in the signed distance function of the other body.");
    ImGui::TableNextColumn();
    kind("Blended", ContactKind::blended, contacts.blended, "", "A mean of others, where pairs are reduced.");
    ImGui::EndTable();
  }

  static void draw_indicator(ContactDisplay& contacts) {
    ImGui::Separator();
    int indicator = static_cast<int>(contacts.indicator);
    if (combo("Coloured by", indicator, k_indicator_names, 0,
              fmt::format("{}\nKey: {}", k_indicator_help[indicator], key_text(Action::next_indicator))))
      contacts.indicator = static_cast<Indicator>(indicator);
    colour_bar(&sequential_colour, "0", k_indicator_names[static_cast<std::size_t>(indicator)], "1");
    show_note(k_indicator_help[static_cast<std::size_t>(indicator)]);
    // As document 000's Fig. 5 has its two pictures.
    if (ImGui::RadioButton("Scaled", contacts.scale_by_indicator)) contacts.scale_by_indicator = true;
    tooltip("Arrows as long and points as large as the indicator says.\nKey: " +
            key_text(Action::scale_by_indicator));
    ImGui::SameLine();
    if (ImGui::RadioButton("Unscaled", !contacts.scale_by_indicator)) contacts.scale_by_indicator = false;
    tooltip("All of one size; colour alone tells the indicator.\nKey: " +
            key_text(Action::scale_by_indicator));
  }

  static void draw_sizes(PanelContext& context) {
    const ContactDisplay standard;
    ContactDisplay& contacts = context.display.contacts;
    (void)slider("Shown from", contacts.least,
                 {"", 1e-6, 1.0, true, standard.least, "Contacts with a smaller indicator are not shown."});
    (void)slider("Size", contacts.size,
                 {"x", 0.125, 8.0, true, standard.size, "Of points and arrows. Keys: comma and full stop."});
    (void)slider("Force length", contacts.force_scale,
                 {"x", 0.01, 100.0, true, standard.force_scale, "Of the arrows of forces."});
    contacts.least = std::max(contacts.least, 0.0);
    contacts.size = std::clamp(contacts.size, 1e-3, 1e3);
    contacts.force_scale = std::clamp(contacts.force_scale, 1e-6, 1e6);
  }
};

}  // namespace

std::unique_ptr<Panel> make_display_panel() { return std::make_unique<DisplayPanel>(); }

}  // namespace abut::viewer
