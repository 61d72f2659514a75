#include "apps/abut/fit_report.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <spdlog/fmt/fmt.h>

#include "apps/abut/progress_bar.h"
#include "engine/count_text.h"

namespace abut {
namespace {

constexpr double k_smallest_usual = 1e-3, k_largest_usual = 20.0;  // sizes [m]
constexpr double k_good_iou = 0.9, k_least_iou = 0.8, k_most_volume_error = 0.1;
constexpr double k_most_floating = 0.03;  // of the volume

bool bulges_much(const MeshedBody& made) { return made.bulge > 0.01 * made.body.size; }

double degrees(double radians) { return radians * 180.0 / std::numbers::pi; }

std::string mesh_text(const FittedMesh& fitted) {
  const RepairReport& r = fitted.repaired.report;
  std::string text =
      fmt::format("mesh: {}, {}, size {:.4g} m\n", count_text(r.input_vertices, "vertex", "vertices"),
                  count_text(r.input_triangles, "triangle"), r.size);
  for (const std::string& note : r.notes) text += fmt::format("note: {}\n", note);
  if (r.size > k_largest_usual || r.size < k_smallest_usual) {
    text += fmt::format(
        "note: {:.4g} m is an unusual size; is the mesh in another unit (--unit, --scale, --size)?\n",
        r.size);
  }
  return text;
}

/// Primitives of a fitted shape.
struct PrimitiveCounts {
  int subtracted = 0, superquadrics = 0, polyhedra = 0, exact = 0;
  int planes = 0;  // of the polyhedra
};

PrimitiveCounts counts_of(const Shape& shape) {
  PrimitiveCounts counts;
  for (const Primitive& primitive : shape.primitives) {
    if (primitive.operation == PrimitiveOperation::subtract) ++counts.subtracted;
    switch (primitive.kind) {
      case PrimitiveKind::superquadric:
        ++counts.superquadrics;
        break;
      case PrimitiveKind::convex_polyhedron:
        ++counts.polyhedra;
        counts.planes += static_cast<int>(primitive.values.size());
        break;
      case PrimitiveKind::oriented_point_cloud:
        break;
      default:
        ++counts.exact;
    }
  }
  return counts;
}

std::string polyhedra_text(const PrimitiveCounts& counts) {
  return fmt::format("{} with {}", count_text(at(counts.polyhedra), "convex polyhedron", "convex polyhedra"),
                     count_text(at(counts.planes), "plane"));
}

/// What follows other counts; empty without any.
std::string exact_text(const PrimitiveCounts& counts) {
  if (counts.exact == 0) return {};
  return fmt::format("; {} {} exact: spheres, capsules, boxes or cylinders", counts.exact,
                     counts.exact == 1 ? "is" : "are");
}

std::string superquadrics_text(const FittedMesh& fitted) {
  const UnionRefinementReport& u = fitted.refinement;
  const ShapeGrowthReport& g = fitted.growth;
  const auto primitives = static_cast<int>(fitted.shape.primitives.size());
  const PrimitiveCounts counts = counts_of(fitted.shape);
  const int subtracted = counts.subtracted;
  std::string text =
      fmt::format("  refinement      IoU of the points {:.4f} before, {:.4f} after {}\n", u.iou_before,
                  u.iou_after, u.kept ? "it" : "it: left as it was") +
      fmt::format("  growth          IoU of the cells {:.4f} before, {:.4f} after it\n", g.iou_before,
                  g.iou_after) +
      fmt::format("  primitives      {} added, {} subtracted", primitives - subtracted, subtracted);
  text += exact_text(counts);
  if (counts.polyhedra > 0) text += "; " + polyhedra_text(counts);
  return text + '\n';
}

std::string convex_text(const FittedMesh& fitted) {
  const PrimitiveCounts counts = counts_of(fitted.shape);
  std::string text = "  parts           " + polyhedra_text(counts);
  if (counts.superquadrics > 0) text += ", " + count_text(at(counts.superquadrics), "superquadric");
  return text + fmt::format(", of {} that the mesh was cut into{}\n",
                            count_text(at(fitted.decomposition.pieces), "piece"), exact_text(counts));
}

std::string resolution_text(const GridResolution& r) {
  std::string text = fmt::format("  distance grid   {} spacings along the longest side", r.spacings);
  if (r.width > 0.0)
    text += fmt::format(", as {} are about {:.2g} m {} (--resolution {})", r.is_for_gaps ? "gaps" : "walls",
                        r.width, r.is_for_gaps ? "wide" : "thick", r.cubes());
  return text + '\n';
}

std::string fit_text(const FittedMesh& fitted, const FitQuality& q) {
  const double size = fitted.repaired.report.size;
  const auto statistics = [&](const DistanceStatistics& s) {
    return fmt::format("mean {:.3f} %, 95 % below {:.3f} %, largest {:.3f} % of the size",
                       100.0 * s.mean / size, 100.0 * s.percentile_95 / size, 100.0 * s.max / size);
  };
  std::string text = "fit, of the body against the mesh\n";
  text += fmt::format("  method          {}\n", method_name(fitted.method));
  text += resolution_text(fitted.resolution);
  text += fmt::format("  IoU             {:.4f} of the cells, {:.4f} of the {} points of the grid\n",
                      q.occupancy_iou, q.iou, fitted.grid.values.size());
  if (fitted.method == FitMethod::superquadrics) text += superquadrics_text(fitted);
  if (fitted.method == FitMethod::convex) text += convex_text(fitted);
  text +=
      fmt::format("  mesh            {} away from the surface of the body\n", statistics(q.mesh_to_zero_set));
  text += fmt::format("  collision mesh  {} away from the mesh\n", statistics(q.collision_mesh_to_mesh));
  text += fmt::format("  normals         {:.1f} degrees apart on the mean\n", degrees(q.mean_normal_angle));
  text += fmt::format("  volume          {:+.2f} %", 100.0 * q.volume_error);
  if (q.mesh_volume_deviation > 0.0)
    text += fmt::format(" (the mesh's, by sampling: +-{:.2f} %)", 100.0 * q.mesh_volume_deviation);
  text += '\n';
  text += fmt::format("  centre of mass  {:.3f} % of the size off\n", 100.0 * q.center_error / size);
  text += fmt::format("  inertia         {:.2f} % off\n", 100.0 * q.inertia_error);
  text += fmt::format("  SDF             {:.0f} ns a query\n", 1e9 * q.query_time);
  return text;
}

std::string body_text(const MeshedBody& made) {
  std::string text;
  for (const std::string& note : made.notes) text += fmt::format("note: {}\n", note);
  const Body& body = made.body;
  const SurfaceReport& r = made.report;
  const auto percent = [&](double length) { return 100.0 * length / body.size; };
  text +=
      fmt::format("{}: {}, size {:.4g} m, mass {:.4g} kg, volume {:.4g} m^3\n", body.name,
                  count_text(body.shape.primitives.size(), "primitive"), body.size, body.mass, body.volume);
  text += fmt::format("  mesh            {} vertices, {} triangles, {}, V - E + F = {}\n", r.vertices,
                      r.triangles, r.closed ? "closed" : "OPEN", r.euler_characteristic);
  text += fmt::format("  vertices        at most {:.1e} of the size off the surface\n",
                      r.max_vertex_distance / body.size);
  if (body.shape.primitives.size() > 1) {
    text +=
        fmt::format("  smooth union    moves the surface by at most {:.3f} % of the size (tau = {:.3g} m)\n",
                    percent(made.bulge), body.shape.union_smoothing);
  }
  if (bulges_much(made))
    text +=
        "note: the smooth union moves the surface by more than 1 % of the size: try a smaller --smoothing\n";
  text += fmt::format("  chord sag       mean {:.3f} %, largest {:.3f} % of the size\n", percent(r.mean_sag),
                      percent(r.max_sag));
  if (r.max_distance > 0.0) {
    text += fmt::format("  fine surface    mean {:.3f} %, largest {:.3f} % of the size away from the mesh\n",
                        percent(r.mean_distance), percent(r.max_distance));
  }
  text += fmt::format("  smallest angle  {:.1f} degrees\n", degrees(r.min_angle));
  return text;
}

Json json_of_statistics(const DistanceStatistics& s) {
  return {{"mean", s.mean}, {"percentile_95", s.percentile_95}, {"max", s.max}};
}

Json json_of_lost(const LostSurface& lost) {
  return {{"share", lost.share},
          {"distance", lost.distance},
          {"width", lost.width},
          {"farthest", {lost.farthest.x(), lost.farthest.y(), lost.farthest.z()}}};
}

Json json_of_mesh(const RepairReport& r) {
  return {{"vertices", r.input_vertices},
          {"triangles", r.input_triangles},
          {"size", r.size},
          {"closed", r.closed},
          {"shells", r.shells},
          {"holes", r.holes},
          {"intersecting_triangles", r.intersecting_triangles},
          {"inner_sheets", r.inner_sheets},
          {"inner_triangles", r.inner_triangles},
          {"inner_area", r.inner_area},
          {"notes", r.notes}};
}

Json json_of_fit(const FittedMesh& fitted, const FitQuality& q) {
  const UnionRefinementReport& u = fitted.refinement;
  const PrimitiveCounts counts = counts_of(fitted.shape);
  return {{"method", method_name(fitted.method)},
          {"iou", q.iou},
          {"occupancy_iou", q.occupancy_iou},
          {"iou_before_refinement", u.iou_before},
          {"grid_points", fitted.grid.values.size()},
          {"grid_spacings", fitted.resolution.spacings},
          {"thin_walls", fitted.resolution.is_for_gaps ? 0.0 : fitted.resolution.width},
          {"thin_gaps", fitted.resolution.is_for_gaps ? fitted.resolution.width : 0.0},
          {"refinement_steps", u.steps},
          {"left_out", u.left_out + u.thinned_out},
          {"growth_rounds", fitted.growth.rounds},
          {"occupancy_iou_before_growth", fitted.growth.iou_before},
          {"merged", u.merged + fitted.growth.merged},
          {"subtracted", counts.subtracted},
          {"superquadrics", counts.superquadrics},
          {"exact_kinds", counts.exact},
          {"polyhedra", counts.polyhedra},
          {"pieces", fitted.decomposition.pieces},
          {"planes", counts.planes},
          {"mesh_to_surface", json_of_statistics(q.mesh_to_zero_set)},
          {"collision_mesh_to_mesh", json_of_statistics(q.collision_mesh_to_mesh)},
          {"mean_normal_angle", q.mean_normal_angle},
          {"volume_of_mesh", q.mesh_volume},
          {"volume_of_mesh_deviation", q.mesh_volume_deviation},
          {"volume_error", q.volume_error},
          {"center_of_mass_error", q.center_error},
          {"inertia_error", q.inertia_error},
          {"lost_parts", json_of_lost(q.lost_parts)},
          {"filled_gaps", json_of_lost(q.filled_gaps)},
          {"seconds_per_query", q.query_time}};
}

/// A lost part or filled gap of a mesh.
struct Loss {
  const LostSurface& surface;
  bool is_part;
};

/// Those of more than 3 % of the surface or more than 10 % of the size away, or those of less.
std::vector<Loss> losses(const FitReport& report, bool much) {
  constexpr double k_most_share = 0.03, k_most_distance = 0.1;
  std::vector<Loss> found;
  if (!report.quality) return found;
  for (const Loss& loss :
       {Loss{report.quality->lost_parts, true}, Loss{report.quality->filled_gaps, false}}) {
    const LostSurface& lost = loss.surface;
    const bool is_much =
        lost.share > k_most_share || lost.distance > k_most_distance * report.fitted->repaired.report.size;
    if (lost.share > 0.0 && is_much == much) found.push_back(loss);
  }
  return found;
}

/// What to try where a body differs much from its mesh.
std::string remedy_of(const FitReport& report) {
  if (const int parts = report.made.floating_parts; parts > 0) {
    if (report.fitted->repaired.report.shells == 1)
      return fmt::format(
          "{} of the body float{} apart from the rest, which the mesh does not: try a larger --max-primitives "
          "or --resolution",
          count_text(parts, "part"), parts == 1 ? "s" : "");
    return fmt::format(
        "{} of the mesh float{} apart from the rest, and a body has one surface: fit each part by "
        "itself, or join them in the mesh",
        count_text(parts, "part"), parts == 1 ? "s" : "");
  }
  if (const int cavities = report.made.cavities; cavities > 0) {
    return fmt::format(
        "{} within the mesh count{} as solid: give the mass of the hollow body (--mass), or leave "
        "the inner surface out of the mesh",
        count_text(cavities, "closed cavity", "closed cavities"), cavities == 1 ? "s" : "");
  }
  if (bulges_much(report.made)) return "try a smaller --smoothing";
  if (!losses(report, true).empty()) return "parts are lost or gaps filled, see below";
  switch (report.fitted->method) {
    case FitMethod::superquadrics:
      return "try a larger --max-primitives or --resolution; narrow cavities and thin walls are filled or "
             "lost";
    case FitMethod::convex:
      return "try a larger --max-primitives or --resolution, or --method superquadrics where it is round";
    default:
      return "try --method superquadrics or convex";
  }
}

/// What is lost of the mesh, how thick or wide it is, and what to try.
std::string loss_text(const FitReport& report, const Loss& loss) {
  const LostSurface& lost = loss.surface;
  const double size = report.fitted->repaired.report.size, spacing = report.fitted->grid.grid.cell_size;
  const std::string text = fmt::format(
      "{:.2g} % of the mesh's surface is lost, {} about {:.2g} m {}, up to {:.2g} m from the body's "
      "surface at ({:.3g}, {:.3g}, {:.3g}): ",
      100.0 * lost.share, loss.is_part ? "parts" : "gaps", lost.width,
      loss.is_part ? "thick" : "wide that are filled", lost.distance, lost.farthest.x(), lost.farthest.y(),
      lost.farthest.z());
  if (loss.is_part ? report.made.floating_parts > 0 : report.made.cavities > 0)
    return text + remedy_of(report);
  constexpr double k_resolved = 2.0;  // spacings of a wall that is not lost
  if (lost.width >= k_resolved * spacing)
    return text + (loss.is_part ? "try a larger --max-primitives"
                                : "try a larger --max-primitives, or --method superquadrics");
  const std::string change =
      loss.is_part ? "make them thicker in the mesh, or bodies of their own" : "make them wider in the mesh";
  const double cubes = k_cubes_per_spacing * k_resolved * size / lost.width;
  constexpr double k_most_cubes = 500.0;  // more take hours
  if (cubes > k_most_cubes)
    return text + fmt::format("the distance grid has a spacing of {:.2g} m; {}", spacing, change);
  return text + fmt::format("try --resolution {:.0f}, or {}", std::ceil(cubes / 10.0) * 10.0, change);
}

}  // namespace

std::map<std::string, FitMethod> fit_methods() {
  return {{"auto", FitMethod::automatic},
          {"superquadrics", FitMethod::superquadrics},
          {"convex", FitMethod::convex},
          {"hull", FitMethod::hull},
          {"pointcloud", FitMethod::point_cloud}};
}

std::string method_name(FitMethod method) {
  for (const auto& [name, other] : fit_methods()) {
    if (other == method) return name;
  }
  return {};
}

std::vector<std::string> shortcomings(const FitReport& report) {
  std::vector<std::string> list;
  if (report.quality) {
    const FitQuality& q = *report.quality;
    const std::string remedy = remedy_of(report);
    if (!(q.occupancy_iou >= k_least_iou))
      list.push_back(fmt::format("the IoU is {:.3f}, below {}: {}", q.occupancy_iou, k_least_iou, remedy));
    if (!(std::abs(q.volume_error) <= k_most_volume_error + 2.0 * q.mesh_volume_deviation)) {
      list.push_back(fmt::format("the volume is {:+.1f} % off, more than {:.0f} %: {}",
                                 100.0 * q.volume_error, 100.0 * k_most_volume_error, remedy));
    }
    if (const double share = report.made.floating_share; list.empty() && share > k_most_floating)
      list.push_back(fmt::format("{:.1f} % of the volume is left out: {}", 100.0 * share, remedy));
    for (const Loss& loss : losses(report, true)) list.push_back(loss_text(report, loss));
  }
  if (report.fitted && report.tolerance) {
    const double reached = report.fitted->mean_distance / report.fitted->repaired.report.size;
    if (!(reached <= *report.tolerance)) {
      list.push_back(
          fmt::format("the mesh is on the mean {:.3g} % of the size away from the surface, more than the "
                      "tolerance of {:.3g} %: try a larger --max-primitives, --resolution or --tolerance",
                      100.0 * reached, 100.0 * *report.tolerance));
    }
  }
  if (!report.made.report.closed)
    list.emplace_back("the collision mesh is not closed: try another --vertices or a larger --resolution");
  return list;
}

std::string text_of(const FitReport& report) {
  std::string text;
  if (report.fitted) text += mesh_text(*report.fitted);
  text += body_text(report.made);
  if (report.fitted && report.quality) text += fit_text(*report.fitted, *report.quality);
  if (report.quality && report.quality->occupancy_iou >= k_least_iou &&
      report.quality->occupancy_iou < k_good_iou)
    text += fmt::format("note: the IoU is below {}: {}\n", k_good_iou, remedy_of(report));
  for (const Loss& loss : losses(report, false)) text += fmt::format("note: {}\n", loss_text(report, loss));
  text += fmt::format("took {}\n", duration_text(report.seconds));
  return text;
}

Json json_of(const FitReport& report) {
  const Body& body = report.made.body;
  const SurfaceReport& r = report.made.report;
  Json json{{"input", report.input},
            {"seconds", report.seconds},
            {"body",
             {{"name", body.name},
              {"primitives", body.shape.primitives.size()},
              {"size", body.size},
              {"mass", body.mass},
              {"volume", body.volume},
              {"union_smoothing", body.shape.union_smoothing},
              {"bulge", report.made.bulge}}},
            {"collision_mesh",
             {{"vertices", r.vertices},
              {"triangles", r.triangles},
              {"closed", r.closed},
              {"euler_characteristic", r.euler_characteristic},
              {"max_vertex_distance", r.max_vertex_distance},
              {"mean_sag", r.mean_sag},
              {"max_sag", r.max_sag},
              {"min_angle", r.min_angle}}},
            {"notes", report.made.notes}};
  if (report.fitted && report.quality) {
    json["mesh"] = json_of_mesh(report.fitted->repaired.report);
    json["fit"] = json_of_fit(*report.fitted, *report.quality);
  }
  json["shortcomings"] = shortcomings(report);
  return json;
}

}  // namespace abut
