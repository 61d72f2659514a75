#include "collision/detectors/padded_part.h"

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "collision/convex/proximity_qp.h"
#include "collision/convex/proximity_qp_dual_active_set.h"
#include "collision/convex/proximity_qp_jvp.h"
#include "collision/convex/proximity_qp_sets.h"
#include "engine/check.h"
#include "engine/convex_hull.h"

namespace abut {
namespace {

/// The place of a type in PaddedPart::core.
template <typename Core, std::size_t i = 0>
constexpr std::size_t kind_of() {
  if constexpr (std::is_same_v<Core, std::variant_alternative_t<i, decltype(PaddedPart::core)>>)
    return i;
  else
    return kind_of<Core, i + 1>();
}
template <typename Core>
constexpr std::size_t k_kind = kind_of<Core>();

/// Into the frame of the body.
template <int dim, int constraints>
PaddedCore<double, dim, constraints> in_body(const PaddedCore<double, dim, constraints>& core_P,
                                             const Pose<double>& X_BP) {
  return placed<double, dim, constraints>(core_P, X_BP.rotation(), X_BP.p);
}

PaddedSegment<double> segment_of(const ConvexPart<double>& part) {
  const double half = part.extents[2];
  if (part.core == ConvexCore::segment && half > 0.0)
    return padded<1, 2>(segment_core({0.0, 0.0, -half}, {0.0, 0.0, half}), part.radius);
  PaddedSegment<double> point{};
  point.centre.setZero();
  point.axes[0].setZero();
  point.normals[0][0] = point.normals[1][0] = 0.0;
  point.size = part.radius;
  point.padding = part.radius;
  return point;
}

PaddedPlane plane_core() {
  PaddedPlane plane{};
  plane.centre.setZero();
  plane.axes[0] = Vec3<double>::UnitX();
  plane.axes[1] = Vec3<double>::UnitY();
  return plane;
}

/// The plane below another core.
template <int dim, int constraints>
PaddedPlane plane_below(PaddedPlane plane_W, const PaddedCore<double, dim, constraints>& core_W) {
  const Vec3<double> up = plane_W.axes[0].cross(plane_W.axes[1]);
  const double depth = core_W.size + core_W.padding;
  plane_W.centre = core_W.centre - (up.dot(core_W.centre - plane_W.centre) + depth) * up;
  plane_W.padding = depth;
  plane_W.size = core_W.size;
  return plane_W;
}

ConvexPart<double> carved_box(ConvexPart<double> part, double padding) {
  const double radius = padding * part.extents.minCoeff();
  part.extents -= Vec3<double>::Constant(radius);
  part.radius = radius;
  part.size = part.extents.norm();
  return part;
}

PaddedPolytope<double, 6> box_core(const ConvexPart<double>& box) {
  Points normals(3, 6);
  std::vector<double> offsets;
  for (int i = 0; i < 3; ++i) {
    normals.col(2 * i) = Vec3<double>::Unit(i);
    normals.col(2 * i + 1) = -Vec3<double>::Unit(i);
    offsets.insert(offsets.end(), 2, box.extents[i]);
  }
  return padded<3, 6>(polytope_core(normals, offsets), box.radius);
}

/// Normals and offsets of a polyhedron's faces, seen from a centre inside.
struct Faces {
  Points normals;
  std::vector<double> offsets;
  Vec3<double> centre = Vec3<double>::Zero();

  explicit Faces(const PolyhedronGraph<double>& graph) : normals(3, graph.face_count()) {
    for (const Vec3<double>& x : graph.vertices) centre += x / graph.vertex_count();
    for (int f = 0; f < graph.face_count(); ++f) {
      const Vec3<double>& corner = graph.vertices[at(graph.corners[at(graph.first_corner[at(f)])])];
      normals.col(f) = graph.face_normals[at(f)];
      offsets.push_back(graph.face_normals[at(f)].dot(corner - centre));
    }
  }
};

PaddedPart padded_polygon(const ConvexPart<double>& part) {
  const std::vector<Vec3<double>>& corners = part.polyhedron->vertices;
  require(corners.size() <= k_most_qp_faces,
          "a polygon of more corners than a proximity program has room for");
  return {part, in_body(padded<2, k_most_qp_faces>(polygon_core(corners), part.radius), part.X_BP)};
}

PaddedPart padded_polyhedron(const ConvexPart<double>& part, double padding) {
  Faces faces(*part.polyhedron);
  require(faces.normals.cols() <= k_most_qp_faces,
          "a polyhedron of more faces than a proximity program has room for");
  PaddedPart r{part, {}};
  if (part.radius == 0.0) {
    double inradius = std::numeric_limits<double>::infinity();
    for (const double offset : faces.offsets) inradius = std::min(inradius, offset);
    for (double& offset : faces.offsets) offset -= padding * inradius;
    Points vertices = polyhedron_vertices(faces.normals, faces.offsets);
    vertices.colwise() += faces.centre;
    r.part = make_convex_part(vertices);
    r.part.X_BP = part.X_BP;
    r.part.radius = padding * inradius;
  }
  auto core = padded<3, k_most_qp_faces>(polytope_core(faces.normals, faces.offsets), r.part.radius);
  core.centre += faces.centre;
  r.core = in_body(core, part.X_BP);
  return r;
}

/// interior_point(), compiled once for a pair of kinds: the witness needs it, and so do relaxed derivatives.
template <typename Program>
[[gnu::noinline]] auto solve_program(const Program& program, const InteriorPointSettings<double>& settings) {
  return interior_point(program, settings);
}

/// Fills in the derivatives by the pose of one of both, column by column; the other rests.
template <typename A, typename B, typename Program, typename At, typename Solution>
void set_derivatives(const A& core_A, const B& core_B, const Pose<double>& X_WA, const Pose<double>& X_WB,
                     bool moves_A, const Program& program, const At& at, const Solution& relaxed,
                     WitnessByB& by_pose) {
  const Vec6<double> rest = Vec6<double>::Zero();
  for (int column = 0; column < 6; ++column) {
    const Vec6<double> tangent = Vec6<double>::Unit(column);
    const ProximityTangent<double> dot =
        proximity_pose_jvp<double>(core_A, core_B, X_WA.p, X_WB.p, program, at, relaxed,
                                   moves_A ? tangent : rest, moves_A ? rest : tangent);
    by_pose.distance[column] = dot.distance;
    by_pose.normal.col(column) = dot.normal;
    by_pose.point_A.col(column) = dot.point_A;
    by_pose.point_B.col(column) = dot.point_B;
  }
}

/// padded_witness() of parts whose kinds stand in the order of PaddedPart::core, so that each pair of kinds
/// is one program: derivatives are by the pose of A if moves_A, else by that of B.
bool witness_in_order(const PaddedPart& A, const Pose<double>& X_WA, const PaddedPart& B,
                      const Pose<double>& X_WB, bool moves_A, std::span<const double> relaxations,
                      Witness<double>& witness, std::span<WitnessByB> by_pose) {
  const ProximitySettings<double> settings;
  const auto solve = [&](const auto& core_A, const auto& core_B) {
    const auto program = proximity_program(core_A, core_B, settings.lambda);
    auto solution = solve_program(program, settings.solver);
    if (!(solution.converged > 0.0)) solution = dual_active_set(program);  // parallel edges and faces
    if (!std::isfinite(solution.x[0])) return false;
    const auto found = proximity_of_solution(
        core_A, core_B, solution, settings,
        proximity_qp_detail::centre_axis<double>(core_A.centre, core_B.centre, program.length));
    witness = {found.normal, found.point_A, found.point_B, found.distance};
    for (std::size_t i = 0; i < by_pose.size(); ++i) {
      InteriorPointSettings<double> relaxed = settings.solver;
      relaxed.kappa = relaxations[i];
      set_derivatives(core_A, core_B, X_WA, X_WB, moves_A, program, found,
                      relaxed.kappa > 0.0 ? solve_program(program, relaxed) : solution, by_pose[i]);
    }
    return true;
  };
  return std::visit(
      [&]<typename CoreA, typename CoreB>(const CoreA& core_A_B, const CoreB& core_B_B) {
        constexpr std::size_t kind_A = k_kind<CoreA>, kind_B = k_kind<CoreB>;
        if constexpr (kind_A > kind_B || (kind_A == k_kind<PaddedPlane> && kind_A == kind_B)) {
          return false;
        } else {
          const auto core_A = placed(core_A_B, X_WA.rotation(), X_WA.p);
          const auto core_B = placed(core_B_B, X_WB.rotation(), X_WB.p);
          if constexpr (kind_A == k_kind<PaddedPlane>) {
            return solve(plane_below(core_A, core_B), core_B);
          } else {
            return solve(core_A, core_B);
          }
        }
      },
      A.core, B.core);
}

}  // namespace

PaddedPart make_padded_part(const ConvexPart<double>& part, double padding) {
  switch (part.core) {
    case ConvexCore::point:
    case ConvexCore::segment:
      return {part, in_body(segment_of(part), part.X_BP)};
    case ConvexCore::box: {
      const ConvexPart<double> box = part.radius > 0.0 ? part : carved_box(part, padding);
      return {box, in_body(box_core(box), part.X_BP)};
    }
    case ConvexCore::polyhedron:
      return part.polyhedron->is_flat() ? padded_polygon(part) : padded_polyhedron(part, padding);
    case ConvexCore::half_space:
      return {part, in_body(plane_core(), part.X_BP)};
    case ConvexCore::superquadric:
    case ConvexCore::cone:
      break;
  }
  require(false, "proximity programs take points, segments, boxes, polyhedra and half-spaces");
  return {};
}

bool padded_witness(const PaddedPart& A, const Pose<double>& X_WA, const PaddedPart& B,
                    const Pose<double>& X_WB, std::span<const double> relaxations, Witness<double>& witness,
                    std::span<WitnessByB> by_B) {
  ABUT_ASSERT(relaxations.size() == by_B.size());
  if (A.core.index() <= B.core.index())
    return witness_in_order(A, X_WA, B, X_WB, false, relaxations, witness, by_B);
  if (!witness_in_order(B, X_WB, A, X_WA, true, relaxations, witness, by_B)) return false;
  witness = {-witness.normal_AB_W, witness.point_B_W, witness.point_A_W, witness.distance};
  for (WitnessByB& by_pose : by_B) {
    by_pose.normal = -by_pose.normal;
    by_pose.point_A.swap(by_pose.point_B);
  }
  return true;
}

}  // namespace abut
