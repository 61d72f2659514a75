#include "apps/abut/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <spdlog/fmt/fmt.h>

#include "collision/manifold/edge_sdf.h"
#include "dynamics/step/step_warnings.h"
#include "engine/count_text.h"
#include "engine/law_settings.h"

namespace abut {

namespace {

/// Where on the two bodies a contact is.
std::string place_text(const Model& model, const ContactFeature& contact) {
  const auto name = [&](int body) { return model.bodies[static_cast<std::size_t>(body)].name; };
  const bool A_has_feature = contact.feature_A >= 0;
  const int owner = A_has_feature ? contact.body_A : contact.body_B,
            feature = A_has_feature ? contact.feature_A : contact.feature_B;
  switch (contact.kind) {
    case ContactKind::vertex_sdf:
      return fmt::format("at contact point {} of '{}'", feature, name(owner));
    case ContactKind::edge_edge:
      return fmt::format("at edge {} of '{}' and edge {} of '{}'", contact.feature_A, name(contact.body_A),
                         contact.feature_B, name(contact.body_B));
    case ContactKind::edge_sdf:
      return fmt::format("along edge {} of '{}'", edge_of_feature(feature), name(owner));
    case ContactKind::convex_parts:
      return fmt::format("at {} of convex parts of '{}' and '{}'",
                         contact.feature_B == 0 ? std::string("the witness points")
                                                : fmt::format("point {} of the patch", contact.feature_B),
                         name(contact.body_A), name(contact.body_B));
    case ContactKind::triangle_sdf:
      return fmt::format("in triangle {} of '{}'", feature, name(owner));
    case ContactKind::blended:
      return "at a mean of several contacts";
  }
  return {};
}

std::string cause_text(const StepConfig& config, const StepReport& report) {
  switch (report.status) {
    case StepStatus::ok:
      return "nothing";
    case StepStatus::non_finite:
      return "the state is no longer finite";
    case StepStatus::not_converged:
      return fmt::format(
          "not converged, relative residual {:.2e} after {} Newton iterations, allowed: {:.2e}",
          report.residual, report.iterations, config.tolerance);
    case StepStatus::too_deep:
      return fmt::format("penetration of {:.3g} of the size of the smaller body, allowed: {:.3g}",
                         report.penetration, config.penetration_limit);
    case StepStatus::too_fast:
      return fmt::format("speed of {:.3g} m/s, allowed: {:.3g} m/s", report.max_speed, config.speed_limit);
    case StepStatus::turns_too_far:
      return "a body turns too far within the step to be followed";
    case StepStatus::jumped:
      return fmt::format("a body moved {:.3g} m farther than its velocities explain", report.jump);
  }
  return {};
}

const char* hint_text(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
      return "";
    case StepStatus::not_converged:
      return "try a smaller time_step, a larger max_iterations, or masses that differ less";
    case StepStatus::non_finite:
      return "try a smaller time_step, and look for forces that are too large for the mass of the body";
    case StepStatus::too_deep:
      return "try poses that do not overlap at the start, a smaller time_step, or a larger "
             "penetration_limit";
    case StepStatus::too_fast:
      return "try a smaller time_step or softer contacts, and if the speed is meant, a larger speed_limit";
    case StepStatus::turns_too_far:
      return "try a smaller time_step, or a slower body";
    case StepStatus::jumped:
      return "try a smaller time_step, or a restitution of 0";
  }
  return "";
}

}  // namespace

std::string failure_text(const Model& model, const StepConfig& config, double time,
                         const StepReport& report) {
  const auto name = [&](int body) { return model.bodies[static_cast<std::size_t>(body)].name; };
  std::string text = fmt::format("step {} (to t = {:.6g} s) failed with law {}: {}", report.step + 1, time,
                                 to_string(report.law), cause_text(config, report));
  if (report.body >= 0) {
    text += fmt::format("; body '{}'", name(report.body));
    const ContactFeature& contact = report.contact;
    if (contact.body_A < 0 || contact.body_B < 0) {
      text += ", which touches nothing";
    } else {
      const int other = report.body == contact.body_A ? contact.body_B : contact.body_A;
      text += fmt::format(", deepest contact with '{}' {}", name(other), place_text(model, contact));
    }
  }
  return text + "; " + hint_text(report.status);
}

void warn_of_start(std::string_view verb, const Model& model, const StartWarnings& warnings) {
  constexpr std::size_t k_most = 20;  // of a heap of coincident bodies every pair overlaps
  const std::vector<std::string> texts = warning_texts(model, warnings);
  for (std::size_t i = 0; i < std::min(texts.size(), k_most); ++i)
    fmt::print(stderr, "abut {}: warning: at the start, {}\n", verb, texts[i]);
  if (texts.size() > k_most)
    fmt::print(stderr, "abut {}: warning: {} more warnings of the start\n", verb, texts.size() - k_most);
}

const char* to_string(StepWarning::Kind kind) {
  switch (kind) {
    case StepWarning::Kind::heavy_on_light:
      return "heavy_on_light";
    case StepWarning::Kind::long_step:
      return "long_step";
    case StepWarning::Kind::parted_joint:
      return "parted_joint";
    case StepWarning::Kind::left_out:
      return "left_out";
    case StepWarning::Kind::rounding:
      return "rounding";
    case StepWarning::Kind::lost_restitution:
      return "lost_restitution";
  }
  return "unknown";
}

std::string warning_text(const Model& model, const StepConfig& config, StepWarning::Kind kind,
                         const StepWarning& warning) {
  const Body& body = model.bodies[static_cast<std::size_t>(warning.body)];
  if (kind == StepWarning::Kind::parted_joint) {
    const std::string with =
        warning.other < 0 ? "the world"
                          : fmt::format("'{}'", model.bodies[static_cast<std::size_t>(warning.other)].name);
    return fmt::format(
        "a joint of '{}' with {} has come apart by {:.2g} sizes of the smaller body, allowed: {:.2g}; try a "
        "smaller time_step, or masses that differ less",
        body.name, with, warning.value, k_parted);
  }
  if (kind == StepWarning::Kind::rounding) {
    return fmt::format(
        "the velocities of '{}' and what it touches are solved to a relative residual of {:.2g} only, where "
        "rounding ends it, allowed: {:.2g}; try a larger tolerance, or masses and sizes that differ less",
        body.name, warning.value, config.tolerance);
  }
  const Body& other = model.bodies[static_cast<std::size_t>(warning.other)];
  if (kind == StepWarning::Kind::left_out) {
    return fmt::format(
        "more of '{}' and '{}' touches than selected_vertices and selected_edges let: a contact loses an "
        "activity "
        "of {:.2g}, allowed: {:.2g}; raise them, or set them to 0 (all)",
        body.name, other.name, warning.value, k_left_out);
  }
  if (kind == StepWarning::Kind::long_step) {
    return fmt::format(
        "forces move '{}' by {:.2g} sizes of the smaller body within one step in which it touches '{}', "
        "allowed: "
        "{:.2g}; try a smaller time_step",
        body.name, warning.value, other.name, k_long_way);
  }
  if (kind == StepWarning::Kind::lost_restitution) {
    return fmt::format(
        "'{}' and '{}' leave an impact {:.2g} m/s slower than their restitution says: more impacts than a "
        "step "
        "resolves, or ones that gain energy in it; try a smaller time_step, or masses that differ less",
        body.name, other.name, warning.value);
  }
  const bool has_factor = setting_use("near_rigid_factor", config.law) == SettingUse::honoured;
  return fmt::format("'{}' sinks {:.2g} mm into '{}', whose mass is {:.1e} times smaller; try a smaller {}",
                     body.name, 1e3 * warning.value, other.name, body.mass / other.mass,
                     has_factor ? "near_rigid_factor" : "time_step");
}

std::vector<std::string> fallback_texts(const SolutionCounts& counts) {
  std::vector<std::string> texts;
  for (const SolutionPath path : k_solution_paths) {
    if (path == SolutionPath::newton || path == SolutionPath::none || counts.of(path) == 0) continue;
    texts.push_back(fmt::format("{} solved by {}", count_text(counts.of(path), "step"), to_string(path)));
  }
  return texts;
}

std::string hash_text(std::uint64_t hash) { return fmt::format("{:016x}", hash); }

std::string Table::text(std::size_t left) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      line += i < left ? fmt::format("  {:<{}}", rows_[r][i], widths[i])
                       : fmt::format("  {:>{}}", rows_[r][i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (r > 0) continue;
    std::size_t width = 2 * (widths.size() - 1);
    for (const std::size_t w : widths) width += w;
    text += "  " + std::string(width, '-') + '\n';
  }
  return text;
}

Json json_of(const SolutionCounts& counts) {
  Json json;
  for (const SolutionPath path : k_solution_paths) {
    if (path != SolutionPath::none) json[to_string(path)] = counts.of(path);
  }
  json["negative_determinant"] = counts.negative_determinants;
  return json;
}

Json json_of(const Model& model, const std::vector<Overlap>& overlaps) {
  Json list = Json::array();
  for (const Overlap& overlap : overlaps) {
    list.push_back({{"a", model.bodies[static_cast<std::size_t>(overlap.body_A)].name},
                    {"b", model.bodies[static_cast<std::size_t>(overlap.body_B)].name},
                    {"depth", overlap.depth},
                    {"point", json_of(overlap.point_W)}});
  }
  return list;
}

Json json_of(const Model& model, const std::vector<JointStartWarning>& warnings) {
  Json list = Json::array();
  for (const JointStartWarning& warning : warnings) {
    list.push_back({{"kind", to_string(warning.kind)},
                    {warning.coupling >= 0 ? "coupling" : "joint", name_of(model, warning)},
                    {"value", warning.value}});
  }
  return list;
}

Json json_of(const Model& model, const RunWarnings& warnings) {
  Json list = Json::array();
  for (const RunWarnings::Entry& entry : warnings.entries()) {
    list.push_back({{"kind", to_string(entry.kind)},
                    {"body", model.bodies[static_cast<std::size_t>(entry.worst.body)].name},
                    {"other", entry.worst.other < 0
                                  ? Json()
                                  : Json(model.bodies[static_cast<std::size_t>(entry.worst.other)].name)},
                    {"first_step", entry.first_step},
                    {"steps", entry.steps},
                    {"worst", entry.worst.value}});
  }
  return list;
}

Json json_of(const Vec3<double>& v) { return Json::array({v.x(), v.y(), v.z()}); }

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void print_json(const Json& json) { fmt::print("{}", json_text(json)); }

static const char* to_string(GradientWarning::Kind kind) {
  switch (kind) {
    case GradientWarning::Kind::chaos:
      return "chaos";
    case GradientWarning::Kind::branch:
      return "branch";
  }
  return "unknown";
}

Json json_of(const Model& model, const GradientHealth& health) {
  Json warnings = Json::array();
  for (const GradientWarning& warning : health.warnings) {
    Json body;
    if (warning.body >= 0) body = model.bodies[static_cast<std::size_t>(warning.body)].name;
    warnings.push_back({{"kind", to_string(warning.kind)},
                        {"step", warning.step},
                        {"body", std::move(body)},
                        {"value", warning.value}});
  }
  return {{"largest_growth", health.largest_growth},
          {"growth_over_free", health.growth_over_free},
          {"contacts", health.contacts},
          {"contacts_near_kink", health.contacts_near_kink},
          {"share_near_kink", health.share_near_kink()},
          {"steps_on_branches", health.steps_on_branches},
          {"steps_lacking_restitution", health.steps_lacking_restitution},
          {"warnings", std::move(warnings)}};
}

void print_health(const Model& model, const GradientHealth& health) {
  constexpr std::size_t k_most_warnings = 10;
  fmt::print(
      "health: the adjoint grows by at most {:.3g} in a step, in all {:.3g} times as much as in free motion; "
      "{:.1f} % of {} near a kink\n",
      health.largest_growth, health.growth_over_free, 100.0 * health.share_near_kink(),
      count_text(health.contacts, "contact"));
  const std::size_t shown = std::min(k_most_warnings, health.warnings.size());
  for (std::size_t i = 0; i < shown; ++i)
    fmt::print("warning: {}\n", warning_text(model, health.warnings[i]));
  if (shown < health.warnings.size())
    fmt::print("and {} (--json has all)\n", count_text(health.warnings.size() - shown, "more warning"));
}

}  // namespace abut
