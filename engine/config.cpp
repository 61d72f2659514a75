#include "engine/config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numbers>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "engine/check.h"
#include "engine/config_fields.h"
#include "engine/model.h"

namespace abut {
namespace {

using Number = double& (*)(StepConfig&);
using Count = int& (*)(StepConfig&);
using Switch = bool& (*)(StepConfig&);

constexpr std::array<StepConfigField, 20> k_fields{{
    {"time_step", Number([](StepConfig& c) -> double& { return c.h; })},
    {"near_rigid_factor", Number([](StepConfig& c) -> double& { return c.near_rigid_factor; })},
    {"dissipation_steps", Number([](StepConfig& c) -> double& { return c.dissipation_steps; })},
    {"stiction_factor", Number([](StepConfig& c) -> double& { return c.stiction_factor; })},
    {"normal_smoothing_factor", Number([](StepConfig& c) -> double& { return c.normal_smoothing_factor; })},
    {"acceleration_scale", Number([](StepConfig& c) -> double& { return c.acceleration_scale; }), 0.0, true},
    {"push_out_factor", Number([](StepConfig& c) -> double& { return c.push_out_factor; })},
    {"impact_speed", Number([](StepConfig& c) -> double& { return c.impact_speed; })},
    {"passive_impacts", Switch([](StepConfig& c) -> bool& { return c.passive_impacts; })},
    {"adaptive_substeps", Switch([](StepConfig& c) -> bool& { return c.adaptive_substeps; })},
    {"penetration_growth", Number([](StepConfig& c) -> double& { return c.penetration_growth; })},
    {"tolerance", Number([](StepConfig& c) -> double& { return c.tolerance; })},
    {"max_iterations", Count([](StepConfig& c) -> int& { return c.max_iterations; }), 1},
    {"penalty_stiffness", Number([](StepConfig& c) -> double& { return c.penalty_stiffness; })},
    {"penalty_stiction_factor", Number([](StepConfig& c) -> double& { return c.penalty_stiction_factor; })},
    {"speed_limit", Number([](StepConfig& c) -> double& { return c.speed_limit; })},
    {"penetration_limit", Number([](StepConfig& c) -> double& { return c.penetration_limit; })},
    {"tangential_factor", Number([](StepConfig& c) -> double& { return c.tangential_factor; })},
    {"impratio", Number([](StepConfig& c) -> double& { return c.impedance.impratio; })},
    {"complementarity_factor", Number([](StepConfig& c) -> double& { return c.complementarity_factor; })},
}};

constexpr std::array<std::pair<std::string_view, ContactLaw>, 6> k_laws{
    {{"smooth_coulomb", ContactLaw::smooth_coulomb},
     {"penalty", ContactLaw::penalty},
     {"convex_cone", ContactLaw::convex_cone},
     {"impedance", ContactLaw::impedance},
     {"lcp", ContactLaw::lcp},
     {"relaxed_complementarity", ContactLaw::relaxed_complementarity}}};

constexpr std::array<std::pair<std::string_view, VertexContacts>, 3> k_vertex_contacts{
    {{"both", VertexContacts::both}, {"first", VertexContacts::first}, {"none", VertexContacts::none}}};
constexpr std::array<std::pair<std::string_view, Reduction>, 3> k_reductions{
    {{"none", Reduction::none}, {"blend", Reduction::blend}, {"cluster", Reduction::cluster}}};

constexpr std::array<std::pair<std::string_view, DetectorKind>, 4> k_detectors{
    {{"manifold", DetectorKind::manifold},
     {"gjk", DetectorKind::gjk},
     {"proximity_qp", DetectorKind::proximity_qp},
     {"frank_wolfe", DetectorKind::frank_wolfe}}};
constexpr std::array<std::pair<std::string_view, WitnessDerivative>, 5> k_witness_derivatives{
    {{"exact", WitnessDerivative::exact},
     {"finite_differences", WitnessDerivative::finite_differences},
     {"zeroth_gaussian", WitnessDerivative::zeroth_gaussian},
     {"first_gaussian", WitnessDerivative::first_gaussian},
     {"first_gumbel", WitnessDerivative::first_gumbel}}};

using C = ContactConfig;
using O = ContactOverrides;
constexpr std::array<ContactField, 25> k_contact_fields{{
    ContactChoice<DetectorKind>{{"detector", &C::detector, &O::detector}, k_detectors},
    ContactChoice<VertexContacts>{{"vertex_contacts", &C::vertex_contacts, &O::vertex_contacts},
                                  k_vertex_contacts},
    ContactSwitch{{"edge_edge", &C::edge_edge, &O::edge_edge}},
    ContactSwitch{{"edge_sdf", &C::edge_sdf, &O::edge_sdf}},
    ContactSwitch{{"flush_faces", &C::flush_faces, &O::flush_faces}},
    ContactNumber{{"activity_smoothing", &C::activity_smoothing, &O::activity_smoothing}},
    ContactNumber{{"edge_smoothing", &C::edge_smoothing, &O::edge_smoothing}},
    ContactNumber{{"cone_smoothing", &C::cone_smoothing, &O::cone_smoothing}},
    ContactNumber{{"parallel_sine", &C::parallel_sine, &O::parallel_sine}, 0.0, 1.0},
    ContactNumber{{"selection_band", &C::selection_band, &O::selection_band}},
    ContactNumber{{"metric_range", &C::metric_range, &O::metric_range}},
    ContactNumber{{"normal_fade", &C::normal_fade, &O::normal_fade}},
    ContactNumber{{"chord_pull", &C::chord_pull, &O::chord_pull}},
    ContactChoice<WitnessDerivative>{{"witness_derivative", &C::witness_derivative, &O::witness_derivative},
                                     k_witness_derivatives},
    ContactNumber{{"witness_epsilon", &C::witness_epsilon, &O::witness_epsilon}, 1e-12, 10.0},
    ContactCount{{"witness_samples", &C::witness_samples, &O::witness_samples}, 2, 10000},
    ContactCount{{"witness_seed", &C::witness_seed, &O::witness_seed}, 0},
    ContactNumber{{"qp_padding", &C::qp_padding, &O::qp_padding}, 0.0, 1.0},
    ContactNumber{{"qp_relaxation", &C::qp_relaxation, &O::qp_relaxation}, 0.0, 1.0},
    ContactCount{{"search_iterations", &C::search_iterations, &O::search_iterations}, 1, 10000},
    ContactNumber{{"cluster_angle", &C::cluster_angle, &O::cluster_angle}, 0.0, std::numbers::pi},
    ContactChoice<Reduction>{{"reduction", &C::reduction, &O::reduction}, k_reductions},
    ContactNumber{{"blend_length", &C::blend_length, &O::blend_length}},
    ContactNumber{{"cluster_radius", &C::cluster_radius, &O::cluster_radius}},
    ContactCount{{"cluster_points", &C::cluster_points, &O::cluster_points}},
}};

/// None compiles once a structure has a member more: which then needs a line above, and in
/// docs/scene_format.md.
[[maybe_unused]] void list_is_complete(const StepConfig& config) {
  [[maybe_unused]] const auto& [h, law, near_rigid_factor, dissipation_steps, stiction_factor,
                                normal_smoothing_factor, acceleration_scale, push_out_factor, push_out,
                                impact_speed, passive_impacts, adaptive_substeps, penetration_growth,
                                tolerance, max_iterations, penalty_stiffness, penalty_stiction_factor,
                                speed_limit, penetration_limit, tangential_factor, impedance,
                                complementarity_factor, contact] = config;
  [[maybe_unused]] const auto& [solref, solimp, impratio] = impedance;
}
[[maybe_unused]] void list_is_complete(const ContactConfig& config) {
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17,
                                c18, c19, c20, c21, c22, c23, c24, c25] = config;
  static_assert(std::size(k_contact_fields) == 25);
}
[[maybe_unused]] void list_is_complete(const ContactOverrides& overrides) {
  [[maybe_unused]] const auto& [c1, c2, c3, c4, c5, c6, c7, c8, c9, c10, c11, c12, c13, c14, c15, c16, c17,
                                c18, c19, c20, c21, c22, c23, c24, c25] = overrides;
}

/// Collects what is wrong, to say it all at once.
class Problems {
 public:
  void add(std::string_view key, const auto& value, std::string_view allowed) {
    text_ += fmt::format("{}{} = {}, allowed: {}", text_.empty() ? "" : "; ", key, value, allowed);
  }
  void require_none() const { require(text_.empty(), text_); }

 private:
  std::string text_;
};

void check(const ContactNumber& field, double value, Problems& problems) {
  if (std::isfinite(value) && value > field.lower && value < field.upper) return;
  problems.add(field.key, value,
               std::isfinite(field.upper) ? fmt::format("in ({}, {})", field.lower, field.upper)
                                          : fmt::format("> {}, finite", field.lower));
}
void check(const ContactCount& field, int value, Problems& problems) {
  if (value >= field.lower && value <= field.upper) return;
  problems.add(field.key, value,
               field.upper < std::numeric_limits<int>::max()
                   ? fmt::format("{} to {}", field.lower, field.upper)
                   : fmt::format(">= {}", field.lower));
}
void check(const ContactSwitch&, bool, Problems&) {}
template <typename Enum>
void check(const ContactChoice<Enum>& field, Enum value, Problems& problems) {
  std::string allowed;
  for (const auto& [word, choice] : field.words) {
    if (choice == value) return;
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", word);
  }
  problems.add(field.key, static_cast<int>(value), allowed);
}

/// Those of ImpedanceConfig that are no fields by themselves.
void check(const ImpedanceConfig& config, Problems& problems) {
  const auto check_element = [&](const char* key, double value, bool is_allowed, const char* allowed) {
    if (!std::isfinite(value) || !is_allowed) problems.add(key, value, allowed);
  };
  const auto& [time_constant, damping_ratio] = config.solref;
  const auto& [d_0, d_w, width, midpoint, power] = config.solimp;
  check_element("solref[0]", time_constant, time_constant > 0.0, "> 0, finite");
  check_element("solref[1]", damping_ratio, damping_ratio > 0.0, "> 0, finite");
  check_element("solimp[0]", d_0, d_0 >= 0.0 && d_0 <= 1.0, "in [0, 1]");
  check_element("solimp[1]", d_w, d_w > 0.0 && d_w <= 1.0, "in (0, 1]");
  check_element("solimp[2]", width, width > 0.0, "> 0, finite");
  check_element("solimp[3]", midpoint, midpoint > 0.0 && midpoint < 1.0, "in (0, 1)");
  check_element("solimp[4]", power, power >= 1.0, ">= 1, finite");
}

void check(const ContactConfig& config, Problems& problems) {
  for (const ContactField& field : k_contact_fields) {
    std::visit([&](const auto& f) { check(f, config.*f.value, problems); }, field);
  }
}

}  // namespace

std::span<const std::pair<std::string_view, ContactLaw>> contact_laws() { return k_laws; }

std::string_view to_string(ContactLaw law) {
  for (const auto& [word, value] : k_laws) {
    if (value == law) return word;
  }
  return "unknown";
}

std::span<const StepConfigField> step_config_fields() { return k_fields; }
std::span<const ContactField> contact_fields() { return k_contact_fields; }

void validate(const ContactConfig& config) {
  Problems problems;
  check(config, problems);
  problems.require_none();
}

ContactConfig contact_config_of(const Model& model, const ContactConfig& defaults, int body_A, int body_B) {
  ContactConfig config = defaults;
  const auto [lower, higher] = std::minmax(body_A, body_B);
  for (const PairOverride& pair : model.pair_overrides) {
    if (pair.body_A != lower || pair.body_B != higher) continue;
    for (const ContactField& field : k_contact_fields) {
      std::visit(
          [&](const auto& f) {
            config.*f.value = (pair.contact.*f.override_value).value_or(config.*f.value);
          },
          field);
    }
  }
  return config;
}

void validate(const StepConfig& config) {
  Problems problems;
  StepConfig copy = config;  // the list gives access for writing
  for (const StepConfigField& field : k_fields) {
    if (const auto* number = std::get_if<Number>(&field.get)) {
      const double value = (*number)(copy);
      const bool is_default = field.negative_means_default && value < 0.0;
      if (!std::isfinite(value) || !(value > field.lower || is_default)) {
        problems.add(field.key, value,
                     fmt::format("> {}, finite{}", field.lower,
                                 field.negative_means_default ? ", or negative for the default" : ""));
      }
    } else if (const auto* count = std::get_if<Count>(&field.get)) {
      const int value = (*count)(copy);
      if (value < field.lower) problems.add(field.key, value, fmt::format(">= {}", field.lower));
    }
  }
  if (std::none_of(k_laws.begin(), k_laws.end(), [&](const auto& law) { return law.second == config.law; })) {
    problems.add("law", static_cast<int>(config.law), "a ContactLaw");
  }
  check(config.impedance, problems);
  check(config.contact, problems);
  problems.require_none();
}

}  // namespace abut
