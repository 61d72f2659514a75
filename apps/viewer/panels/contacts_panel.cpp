#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/contact_details.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"
#include "engine/primitive_check.h"

namespace abut::viewer {
namespace {

enum Column {
  column_kind,
  column_bodies,
  column_features,
  column_distance,
  column_activity,
  column_force,
  column_friction,
  column_slip,
  k_columns
};
constexpr const char* k_column_names[k_columns] = {"Kind",          "Bodies A | B", "Features",
                                                   "Distance [mm]", "Activity",     "Force [N]",
                                                   "Friction use",  "Slip [m/s]"};
constexpr const char* k_column_help[k_columns] = {
    "How the contact was found.",
    "The normal points from A to B.",
    "v: contact point, e: edge, SDF: signed distance function.",
    "Signed distance: negative where the bodies overlap.",
    "What the contact weighs, 0 to 1.",
    "Normal force in the step from here.",
    "Share of what friction can hold at most: 1 where it slides.",
    "Speed across the normal at the end of that step."};

double value_of(const ContactView& view, Column column) {
  switch (column) {
    case column_distance:
      return view.contact.signed_distance;
    case column_activity:
      return view.contact.activity;
    case column_force:
      return view.has_force ? view.force.normal_force() : -1.0;
    case column_friction:
      return view.has_force ? view.force.friction_use() : -1.0;
    case column_slip:
      return view.has_force ? view.force.slip_W.norm() : -1.0;
    default:
      return 0.0;
  }
}

/// Whether a stands before b in ascending order. Words compare by what they are made of.
bool is_before(const ContactFeature& a, const ContactFeature& b, Column column) {
  switch (column) {
    case column_kind:
      return a.kind < b.kind;
    case column_bodies:
      return std::pair(a.body_A, a.body_B) < std::pair(b.body_A, b.body_B);
    default:
      return std::pair(a.feature_A, a.feature_B) < std::pair(b.feature_A, b.feature_B);
  }
}

class ContactsPanel : public Panel {
 public:
  ContactsPanel() : Panel("Contacts", GLFW_KEY_F6, Pane::bottom, false) {}

  void draw(PanelContext& context) override {
    draw_totals(context);
    draw_table(context);
  }

 private:
  static void draw_totals(const PanelContext& context) {
    const Frame& frame = context.frame;
    std::array<int, k_contact_kinds> counts{};
    double force = 0.0;
    for (const ContactView& view : frame.contacts) {
      ++counts[static_cast<std::size_t>(view.contact.feature.kind)];
      if (view.has_force) force += view.force.normal_force();
    }
    std::string text = count_text(frame.contacts.size(), "contact");
    for (std::size_t k = 0; k < counts.size(); ++k) {
      if (counts[k] > 0)
        text +=
            fmt::format("{}{} {}", separator_after(text), counts[k], kind_name(static_cast<ContactKind>(k)));
    }
    show_text(text);
    constexpr const char* k_hint = "Click a row: the inspector shows the contact.";
    const float gap = 2.0f * ImGui::GetFontSize();
    if (ImGui::CalcTextSize(text.c_str()).x + gap + ImGui::CalcTextSize(k_hint).x <
        ImGui::GetContentRegionAvail().x)
      ImGui::SameLine(0.0f, gap);
    show_note(k_hint);
    if (!frame.other_forces.empty()) {
      double other = 0.0;
      for (const ContactForce& one : frame.other_forces) other += one.normal_force();
      show_note(fmt::format("Forces of {:.4g} N here, {:.4g} N of {} reduced or about to close", force, other,
                            count_text(frame.other_forces.size(), "contact")));
    }
  }
  static const char* separator_after(const std::string& text) {
    return text.ends_with("contacts") ? ": " : ", ";
  }

  void draw_table(PanelContext& context) {
    const std::vector<ContactView>& contacts = context.frame.contacts;
    constexpr ImGuiTableFlags k_flags = ImGuiTableFlags_Sortable | ImGuiTableFlags_SortTristate |
                                        ImGuiTableFlags_RowBg | ImGuiTableFlags_BordersInnerV |
                                        ImGuiTableFlags_Resizable | ImGuiTableFlags_Reorderable |
                                        ImGuiTableFlags_Hideable | ImGuiTableFlags_ScrollX |
                                        ImGuiTableFlags_ScrollY | ImGuiTableFlags_SizingFixedFit;
    ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, ImVec2(ImGui::GetStyle().CellPadding.x, 1.0f));
    draw_dense_table(context, k_flags);
    ImGui::PopStyleVar();
    if (contacts.empty()) show_note("Nothing touches.");
  }

  void draw_dense_table(PanelContext& context, ImGuiTableFlags flags) {
    const std::vector<ContactView>& contacts = context.frame.contacts;
    // Down to the end of the window.
    const float line = ImGui::GetTextLineHeight() + 2.0f * ImGui::GetStyle().CellPadding.y;
    const float margin = ImGui::GetStyle().ScrollbarSize + 4.0f, room = ImGui::GetContentRegionAvail().y;
    const float height = std::clamp((static_cast<float>(contacts.size()) + 1.0f) * line + margin,
                                    3.0f * line + margin, std::max(room, 5.0f * line + margin));
    if (!ImGui::BeginTable("contacts", k_columns, flags, {0.0f, height})) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (int c = 0; c < k_columns; ++c) {
      ImGui::TableSetupColumn(k_column_names[c],
                              c == column_force ? ImGuiTableColumnFlags_PreferSortDescending : 0);
    }
    draw_header();
    sort(contacts);

    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(order_.size()));
    while (clipper.Step()) {
      for (int row = clipper.DisplayStart; row < clipper.DisplayEnd; ++row)
        draw_row(context, contacts[order_[static_cast<std::size_t>(row)]], row);
    }
    ImGui::EndTable();
  }

  static void draw_header() {
    ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
    for (int c = 0; c < k_columns; ++c) {
      if (!ImGui::TableSetColumnIndex(c)) continue;
      ImGui::PushID(c);
      ImGui::TableHeader(k_column_names[c]);
      tooltip(k_column_help[c]);
      ImGui::PopID();
    }
  }

  void sort(const std::vector<ContactView>& contacts) {
    order_.resize(contacts.size());
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = i;
    const ImGuiTableSortSpecs* const specs = ImGui::TableGetSortSpecs();
    if (!specs || specs->SpecsCount == 0) return;
    const auto column = static_cast<Column>(specs->Specs[0].ColumnIndex);
    const bool is_descending = specs->Specs[0].SortDirection == ImGuiSortDirection_Descending;
    std::stable_sort(order_.begin(), order_.end(), [&](std::size_t i, std::size_t j) {
      if (is_descending) std::swap(i, j);
      const ContactView &a = contacts[i], &b = contacts[j];
      if (column < column_distance) return is_before(a.contact.feature, b.contact.feature, column);
      const double x = value_of(a, column), y = value_of(b, column);
      // What is no number stands last, so that the order is one.
      if (std::isnan(x) || std::isnan(y)) return !std::isnan(x) && std::isnan(y);
      return x < y;
    });
  }

  static void draw_row(PanelContext& context, const ContactView& view, int row) {
    const Contact& contact = view.contact;
    ImGui::TableNextRow();
    push_feature_id(contact.feature);
    // Means have no feature of their own; those of a pair differ in where they stand only.
    ImGui::PushID(contact.feature.kind == ContactKind::blended ? row : -1);
    ImGui::TableNextColumn();
    // The first column may be hidden or scrolled away, the row is still there to be clicked.
    if (ImGui::Selectable(kind_name(contact.feature.kind), context.selection.is_pinned(contact.feature),
                          ImGuiSelectableFlags_SpanAllColumns))
      context.selection.toggle_pin(contact.feature);
    const auto cell = [](const std::string& text) {
      if (ImGui::TableNextColumn()) ImGui::TextUnformatted(text.c_str());
    };
    cell(bodies_text(*context.frame.model, contact.feature));
    cell(features_text(contact.feature));
    cell(fmt::format("{:.4f}", 1e3 * contact.signed_distance));
    cell(fmt::format("{:.4f}", contact.activity));
    cell(view.has_force ? fmt::format("{:.4g}", view.force.normal_force()) : "-");
    cell(view.has_force ? fmt::format("{:.3f}", view.force.friction_use()) : "-");
    cell(view.has_force ? fmt::format("{:.4g}", view.force.slip_W.norm()) : "-");
    ImGui::PopID();
    ImGui::PopID();
  }

  std::vector<std::size_t> order_;
};

}  // namespace

std::unique_ptr<Panel> make_contacts_panel() { return std::make_unique<ContactsPanel>(); }

}  // namespace abut::viewer
