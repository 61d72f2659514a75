#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <imgui.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include "apps/viewer/contact_description.h"
#include "apps/viewer/panels/panel.h"
#include "apps/viewer/panels/plot.h"
#include "apps/viewer/panels/widgets.h"
#include "engine/count_text.h"
#include "engine/primitive_check.h"

namespace abut::viewer {
namespace {

/// The same for the same contact in every picture, so that a click ends on what it began on.
void push_feature_id(const ContactFeature& feature) {
  const int numbers[] = {static_cast<int>(feature.kind), feature.body_A, feature.body_B, feature.feature_A,
                         feature.feature_B};
  const auto* const bytes = reinterpret_cast<const char*>(numbers);
  ImGui::PushID(bytes, bytes + sizeof numbers);
}

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

std::string vector_text(const Vec3<double>& v, const char* unit) {
  return fmt::format("({:.4g}, {:.4g}, {:.4g}){}{}", v.x(), v.y(), v.z(), unit[0] ? " " : "", unit);
}

class ContactsPanel : public Panel {
 public:
  ContactsPanel() : Panel("Contacts", GLFW_KEY_F6, Pane::bottom, false) {}

  void draw(PanelContext& context) override {
    draw_totals(context);
    draw_table(context);
    draw_pinned(context);
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
    if (!frame.other_forces.empty()) {
      double other = 0.0;
      for (const ContactForce& one : frame.other_forces) other += one.normal_force();
      show_note(fmt::format("Forces of {:.4g} N here, {:.4g} N of {} reduced or about to close", force, other,
                            count_text(frame.other_forces.size(), "contact")));
    }
    show_note("Click a row to pin a contact: its numbers and curves come below.");
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
    // Down to the end of the window, or half of it if contacts that are pinned come below.
    const float line = ImGui::GetTextLineHeight() + 2.0f * ImGui::GetStyle().CellPadding.y;
    const float margin = ImGui::GetStyle().ScrollbarSize + 4.0f, window = ImGui::GetWindowHeight();
    const float room = context.selection.pinned.empty()
                           ? window - ImGui::GetCursorPosY() - ImGui::GetStyle().WindowPadding.y
                           : 0.5f * window;
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

  static void draw_pinned(PanelContext& context) {
    std::vector<ContactFeature> to_unpin;
    if (!context.selection.pinned.empty()) {
      ImGui::Spacing();
      if (ImGui::Button("Unpin all")) context.selection.pinned.clear();
    }
    const int bodies = context.frame.model->model().body_count();
    for (const Selection::Pinned& pinned : context.selection.pinned) {
      if (pinned.feature.body_A < 0 || pinned.feature.body_B >= bodies) continue;  // of another scene
      push_feature_id(pinned.feature);
      bool keep = true;
      // A header does not wrap: the names of the bodies, of any length, stand below it.
      const std::string title =
          fmt::format("{}: {}###pinned", kind_name(pinned.feature.kind), features_text(pinned.feature));
      if (ImGui::CollapsingHeader(title.c_str(), &keep, ImGuiTreeNodeFlags_DefaultOpen)) {
        show_text(bodies_text(*context.frame.model, pinned.feature));
        draw_numbers(context, pinned);
        draw_curves(context, pinned);
      }
      if (!keep) to_unpin.push_back(pinned.feature);
      ImGui::PopID();
    }
    for (const ContactFeature& feature : to_unpin) context.selection.toggle_pin(feature);
  }

  static void draw_numbers(const PanelContext& context, const Selection::Pinned& pinned) {
    const auto& contacts = context.frame.contacts;
    const auto place = std::find_if(contacts.begin(), contacts.end(), [&](const ContactView& view) {
      return Selection::same(view.contact.feature, pinned.feature);
    });
    if (place == contacts.end()) return show_note("It is not among the contacts of this moment.");
    const Contact& contact = place->contact;
    if (ImGui::BeginTable("numbers", 2, ImGuiTableFlags_RowBg)) {
      ImGui::TableSetupColumn("what", ImGuiTableColumnFlags_WidthFixed);
      ImGui::TableSetupColumn("value", ImGuiTableColumnFlags_WidthStretch);
      const auto row = [](const char* name, const std::string& value) {
        ImGui::TableNextRow();
        ImGui::TableNextColumn();
        ImGui::TextUnformatted(name);
        ImGui::TableNextColumn();
        show_text(value);
      };
      row("Distance", fmt::format("{:.6g} mm", 1e3 * contact.signed_distance));
      row("Normal", vector_text(contact.normal_AB_W, ""));
      row("Point", vector_text(contact.point_W, "m"));
      if (place->inspection.known) {
        row("Witness on A", vector_text(place->inspection.witness_A_W, "m"));
        row("Witness on B", vector_text(place->inspection.witness_B_W, "m"));
      }
      row("Area", fmt::format("{:.4g} cm²", 1e4 * contact.area));
      row("Weight", fmt::format("{:.6g} without penetration", contact.weight));
      if (place->has_force) {
        const ContactForce& force = place->force;
        const Vec3<double> friction = force.force_B_W - force.normal_force() * force.normal_AB_W;
        row("Force on B", vector_text(force.force_B_W, "N"));
        row("normal", fmt::format("{:.5g} N", force.normal_force()));
        row("friction", fmt::format("{:.5g} N", friction.norm()));
        row("Friction", fmt::format("{:.4g}, used {:.1f} %", force.friction, 100.0 * force.friction_use()));
        row("Slip", fmt::format("{:.5g} m/s", force.slip_W.norm()));
      }
      ImGui::EndTable();
    }
    if (!place->has_force) show_note("No force of its own is known: see the total above.");

    const auto bar = [](const char* name, double value) {
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
    };
    bar("activity", contact.activity);
    if (!place->inspection.known) return;
    for (const Indicator factor : factors_of(contact.feature.kind))
      bar(k_indicator_names[static_cast<std::size_t>(factor)], indicator_of(*place, factor));
  }

  static void draw_curves(const PanelContext& context, const Selection::Pinned& pinned) {
    PlotOptions options;
    options.cursor = context.frame.state.time;
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

  std::vector<std::size_t> order_;
};

}  // namespace

std::unique_ptr<Panel> make_contacts_panel() { return std::make_unique<ContactsPanel>(); }

}  // namespace abut::viewer
