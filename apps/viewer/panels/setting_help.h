/// What each setting does, in the words and with the sliders' ranges of the settings panel.
#pragma once

#include <string_view>

namespace abut::viewer {

/// How a setting of StepConfig is shown: its name and its place are those of step_config_fields(). It is
/// shown where the law honours it.
struct StepSetting {
  std::string_view key;
  const char* unit;
  double lowest, highest;
  bool logarithmic;
  const char* help;
};

// clang-format off
inline constexpr StepSetting k_step_settings[] = {
    {"time_step", "s", 1e-5, 0.05, true,
     "h, the length of a step: lengths and speeds of all smoothing follow from it."},
    {"near_rigid_factor", "", 1e-3, 10.0, true,
     "Compliance that is added to every contact: c = beta²/(4 pi²) W, with W of the effective mass and the step."},
    {"dissipation_steps", "", 0.1, 1000.0, true,
     "Dissipation time of bodies that give none: tau_d = dissipation_steps h."},
    {"stiction_factor", "", 1e-4, 10.0, true,
     "Sliding speed at which friction is regularised: v_s = stiction_factor g h."},
    {"normal_smoothing_factor", "", 1e-4, 10.0, true,
     "Smoothing of the normal velocity: tau_v = normal_smoothing_factor g h."},
    {"acceleration_scale", "m/s²", 0.01, 1000.0, true,
     "g in v_s = stiction_factor g h and every other speed that is a factor of g h."},
    {"push_out_factor", "", 0.1, 1e4, true,
     "Speed at which overlap of rigid contacts goes at most: v = push_out_factor g h; springs push as they are."},
    {"impact_speed", "m/s", 1e-3, 10.0, true,
     "Speed of approach above which a contact with restitution is an impact: v = max(impact_speed, 3 g h). Slower than "
     "5/8 v nothing bounces, faster than 11/8 v restitution counts in full."},
    {"passive_impacts", "", 0.0, 1.0, false,
     "Restitution is reduced where an impact would gain kinetic energy."},
    {"adaptive_substeps", "", 0.0, 1.0, false,
     "Steps are halved where penetration grows too much."},
    {"penetration_growth", "m", 1e-6, 0.1, true,
     "What is too much for adaptive substeps, in one of them."},
    {"penalty_stiffness", "N/m", 10.0, 1e7, true,
     "Stiffness of a pair that is rigid."},
    {"penalty_stiction_factor", "", 0.01, 1000.0, true,
     "Sliding speed at which friction is regularised: v_s = penalty_stiction_factor g h. Hard contacts have a higher "
     "one, so that friction does not turn them round in a step."},
    {"tangential_factor", "", 1e-6, 1.0, true,
     "Compliance against sliding: c_t = sigma W, with W of the effective mass and the step; sticking contacts creep "
     "in proportion to it."},
    {"impratio", "", 0.01, 100.0, true,
     "How much stiffer friction is than the normal direction: impratio = R_n/R_t."},
    {"complementarity_factor", "", 1e-8, 1.0, true,
     "Velocity times impulse of every contact at the solution: v p = complementarity_factor (g h)²/W; smaller is "
     "harder, sharper, and takes more iterations."},
    {"tolerance", "", 1e-14, 1e-2, true, "Relative residual at which a pass has converged."},
    {"max_iterations", "", 1.0, 500.0, false, "Newton iterations of a pass."},
    {"speed_limit", "m/s", 1.0, 1e7, true,
     "A step that leaves a point of a body faster than this has failed."},
    {"penetration_limit", "", 1e-2, 100.0, true,
     "A step that starts with a contact deeper than this has failed, in sizes of the smaller body."},
};

/// How a setting of ContactConfig is shown; ranges are those of the slider, 0 to 0 for choices.
struct ContactHelp {
  std::string_view key;
  double lowest, highest;
  const char* help;
};
inline constexpr ContactHelp k_contact_help[] = {
    {"detector", 0, 0, "What finds contacts: the smooth manifold, GJK and EPA or proximity QPs of convex parts, or Frank and "
                       "Wolfe's search over triangles."},
    {"vertex_contacts", 0, 0, "Whose vertices meet the other's signed distance function."},
    {"edge_edge", 0, 0, "Contacts between edges of the two meshes: without them crossing edges pass through each other."},
    {"edge_sdf", 0, 0, "Contacts where an edge runs through the other's solid: supports edges that cross a face without a "
                       "vertex in it. The dearest kind."},
    {"flush_faces", 0, 0, "A flat face that lies flush on a convex solid touches with few of its points, which push as all would."},
    {"activity_smoothing", 1e-5, 0.1, "tau_p: contacts fade in from distance 4 tau_p to -4 tau_p; larger is smoother and "
                                      "acts from farther away."},
    {"edge_smoothing", 1e-4, 0.2, "w: length inside of their ends over which a contact of two edges fades in."},
    {"cone_smoothing", 1e-2, 1.0, "w_c: angle over which it fades at the border of an edge's normal cone [rad]."},
    {"parallel_sine", 1e-3, 0.5, "s_1: sine of the angle between two edges below which it fades: vertices carry parallel edges."},
    {"selection_band", 1e-4, 1.0, "Range of depths over which the selection of edges (and limited vertices) fades in; "
                                  "smaller selects fewer, more abruptly."},
    {"metric_range", 1e-4, 1.0, "Distances beyond this all count as far when edges are selected."},
    {"normal_fade", 1e-4, 1.0, "eta: a normal whose unscaled length is below this fades away rather than turn abruptly."},
    {"chord_pull", 1e-3, 10.0, "Edge in a solid: pull of its two contacts to the quadrature points of the chord; smaller "
                               "lets them follow a ridge, larger spreads them."},
    {"witness_derivative", 0, 0, "gjk: derivative of witness points, exact or smoothed by differences, samples or a softmax."},
    {"witness_epsilon", 1e-9, 0.1, "gjk: width of the smoothing of that derivative."},
    {"witness_samples", 2, 1000, "gjk: samples of Gaussian derivatives."},
    {"witness_seed", 0, 1000, "gjk: seed of these samples."},
    {"qp_padding", 1e-3, 0.9, "proximity_qp: radius of the ball that rounds a part without one, by its inradius."},
    {"qp_relaxation", 1e-13, 1e-2, "proximity_qp: kappa; larger smooths derivatives more."},
    {"search_iterations", 1, 200, "frank_wolfe: steps to the deepest point of a triangle."},
    {"cluster_angle", 1e-3, 1.0, "frank_wolfe: contacts whose normals differ by less make one cluster [rad]."},
    {"reduction", 0, 0, "What is done with the contacts of a pair. \"blend\": smooth averages; \"cluster\": the extremes "
                        "of each cluster, which jump where contacts change cluster."},
    {"blend_length", 1e-3, 1.0, "Contacts this much nearer to an extreme dominate it; larger averages more."},
    {"cluster_radius", 1e-3, 1.0, "Contacts within this of a cluster's centre join it; larger leaves fewer contacts."},
    {"cluster_points", 1, 16, "Contacts that a cluster keeps: 1 the deepest alone, 4 its support polygon."},
};
// clang-format on

}  // namespace abut::viewer
