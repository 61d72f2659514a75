/// abut_frank_wolfe TABLE|all [--mesh FILE] [--poses N]: the contact search by Frank and Wolfe's method for
/// the cow on a cylinder, against brute force and against the contact manifold. Exit codes as those of
/// `abut`.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "collision/fitting/shape_surface.h"
#include "collision/manifold/pair_manifold.h"
#include "collision/sdf/frank_wolfe.h"
#include "collision/sdf/triangle_minimum.h"
#include "engine/body_io.h"
#include "engine/mesh_io.h"
#include "engine/random.h"
#include "tests/benchmarks/manifold_accuracy/samples.h"
#include "tests/benchmarks/support/table.h"
#include "tests/benchmarks/timer.h"

namespace abut::benchmarks {
namespace {

using accuracy::Samples;

constexpr double k_cylinder_radius = 0.05, k_cylinder_half_length = 0.2, k_cylinder_edge = 1e-3;  // [m]
constexpr std::array k_depths{5e-4, 5e-3, 4e-2};  // of the deepest vertex of the cow [m]
constexpr double k_active = 0.01;  // activity from which on a contact of the manifold is counted
constexpr int k_most_steps = 10000;
constexpr double k_path = 0.02;  // length of a path, by the size of the cow, and its turn [rad]

/// The mesh of one body at the signed distance function of the other.
struct Direction {
  std::string name;
  const Body* of;
  const ShapeSdf* sdf;
  TriangleSearch search;
  bool is_inverse;  ///< whether X of a scene is the pose of the solid in the frame of the mesh

  [[nodiscard]] Pose<double> pose(const Pose<double>& X) const { return is_inverse ? X.inverse() : X; }
};

struct Scene {
  Body cylinder, cow;
  ShapeSdf cylinder_sdf, cow_sdf;
  std::vector<Direction> directions;

  Scene(Body a_cylinder, Body a_cow)
      : cylinder(std::move(a_cylinder)),
        cow(std::move(a_cow)),
        cylinder_sdf(cylinder.shape),
        cow_sdf(cow.shape) {
    directions.push_back({"cow at cylinder", &cow, &cylinder_sdf, TriangleSearch(cow.mesh), false});
    directions.push_back({"cylinder at cow", &cylinder, &cow_sdf, TriangleSearch(cylinder.mesh), true});
  }
  Scene(const Scene&) = delete;
  Scene& operator=(const Scene&) = delete;
};

Body make_cylinder() {
  BodyDescription description;
  description.name = "cylinder";
  Primitive side;
  side.kind = PrimitiveKind::cone;
  side.parameters = {k_cylinder_radius, k_cylinder_radius, k_cylinder_half_length, k_cylinder_edge};
  description.shape.primitives = {side};
  const ShapeSurface surface = surface_maker()(description.shape);
  description.shape.union_smoothing = surface.union_smoothing;
  description.mesh = surface.mesh;
  description.mass_or_density = Mass{1.0};
  return make_body(description);
}

/// The bundled cow, or the cow with the vertices of a finer mesh, moved into the box around the bundled one.
Body make_cow(const std::filesystem::path& mesh_file) {
  Body cow = read_body(ABUT_SOURCE_DIR "/assets/bodies/spot");
  if (mesh_file.empty()) return cow;
  TriangleMesh mesh = read_mesh(mesh_file);
  mesh.vertices *= largest_extent(cow.mesh) / largest_extent(mesh);
  const auto middle = [](const TriangleMesh& of) {
    return Vec3<double>(0.5 * (of.vertices.rowwise().minCoeff() + of.vertices.rowwise().maxCoeff()));
  };
  mesh.vertices.colwise() += middle(cow.mesh) - middle(mesh);
  return make_body(cow.name, cow.shape, mesh, Mass{cow.mass});
}

/// Poses of the cow in the frame of the cylinder: turned at random, moved in from a random side until its
/// deepest vertex is so deep.
std::vector<Pose<double>> poses_at_depth(const Scene& scene, double depth, int count) {
  Random random(3);
  const auto deepest = [&](const Pose<double>& X) {
    double least = k_infinity;
    for (Eigen::Index i = 0; i < scene.cow.mesh.vertices.cols(); ++i)
      least = std::min(least, scene.cylinder_sdf.distance(X * Vec3<double>(scene.cow.mesh.vertices.col(i))));
    return least;
  };
  std::vector<Pose<double>> poses;
  for (int i = 0; i < count; ++i) {
    Pose<double> X;
    X.q = random.quaternion();
    const double angle = random.uniform(0.0, 2.0 * std::numbers::pi), height = random.uniform(-0.05, 0.05);
    const auto place = [&](double away) {
      X.p = {away * std::cos(angle), away * std::sin(angle), height};
      return X;
    };
    double far = 0.3, step = 2e-3;
    while (deepest(place(far - step)) > -depth) far -= step;
    for (; step > 1e-9; step *= 0.5) {
      if (deepest(place(far - step)) > -depth) far -= step;
    }
    poses.push_back(place(far));
  }
  return poses;
}

// One triangle ---------------------------------------------------------------------------------------------

using Corners = Vec3<double>[3];

void corners_in_solid(const Direction& direction, const Pose<double>& X_SM, int triangle, Corners& corners) {
  direction.search.corners(triangle, corners);
  for (Vec3<double>& x : corners) x = X_SM * x;
}

struct SampledMinimum {
  double distance = k_infinity;
  double b_1 = 0, b_2 = 0;  ///< barycentric coordinates of corners 1 and 2
};

/// The least distance at 325 points of a triangle, and at ever nearer ones around the best of them as long as
/// the triangle may come below `limit` [m].
SampledMinimum brute_force(const Corners& corners, const ShapeSdf& sdf, double limit) {
  SampledMinimum best;
  const auto visit = [&](double b_1, double b_2) {
    b_1 = std::clamp(b_1, 0.0, 1.0);
    b_2 = std::clamp(b_2, 0.0, 1.0 - b_1);
    const double d =
        sdf.distance<double>((1.0 - b_1 - b_2) * corners[0] + b_1 * corners[1] + b_2 * corners[2]);
    if (d < best.distance) best = {d, b_1, b_2};
  };
  constexpr int k_side = 24;
  for (int i = 0; i <= k_side; ++i) {
    for (int k = 0; k <= k_side - i; ++k) visit(double(i) / k_side, double(k) / k_side);
  }
  const double size = std::max((corners[1] - corners[0]).norm(), (corners[2] - corners[0]).norm());
  if (best.distance > limit + sdf.distance_ratio() * size / k_side) return best;
  for (double width = 1.0 / k_side; width > 1e-8; width *= 0.4) {
    const SampledMinimum middle = best;
    for (int i = -3; i <= 3; ++i) {
      for (int k = -3; k <= 3; ++k) visit(middle.b_1 + width * i / 3.0, middle.b_2 + width * k / 3.0);
    }
  }
  return best;
}

/// Radius of the circle through the corners [m].
double circumradius(const Corners& c) {
  const Vec3<double> u = c[1] - c[0], v = c[2] - c[0];
  return u.norm() * v.norm() * (c[2] - c[1]).norm() / (2.0 * u.cross(v).norm());
}

/// How deep [mm], 0 when apart.
double depth_in_mm(double distance) { return 1e3 * std::max(0.0, -distance); }

// Contacts -------------------------------------------------------------------------------------------------

/// The contacts of the manifold that count, and the deepest of those of one body's vertices.
struct ManifoldSummary {
  int active = 0;
  double deepest_vertex = k_infinity, deepest = k_infinity;  // [m]
};

ManifoldSummary summary_of(const ContactBlock<double>& block, ContactSection vertices) {
  ManifoldSummary summary;
  for (int i = 0; i < block.count; ++i) {
    if (block.number(k_contact_activity, i) < k_active) continue;
    const double d = block.number(k_contact_distance, i);
    ++summary.active;
    summary.deepest = std::min(summary.deepest, d);
    const int first = vertices == k_vertices_of_A ? 0 : block.ends[vertices - 1];
    if (i >= first && i < block.ends[vertices]) summary.deepest_vertex = std::min(summary.deepest_vertex, d);
  }
  return summary;
}

Table contacts_table(const Scene& scene, int poses) {
  Table table({"triangles of", "vertex depth [mm]", "candidates", "contacts", "kept", "brute force: contacts",
               "missed", "lost to the circumradius", "depth short by [mm], most", "manifold: contacts",
               "its vertices: short by [mm], mean", "most", "with edges: mean"});
  const PairManifold<double> manifold(scene.cylinder, scene.cow, ContactConfig());
  PairScratch<double> scratch;
  ContactBlock<double> block;
  const FrankWolfeSettings settings;
  for (const Direction& direction : scene.directions) {
    const ContactSection section = direction.is_inverse ? k_vertices_of_A : k_vertices_of_B;
    for (const double depth : k_depths) {
      double candidates = 0, contacts = 0, kept = 0, exact_contacts = 0, missed = 0, by_circumradius = 0,
             active = 0, short_by_vertices = 0, short_with_edges = 0;
      Samples short_by, vertices_short;
      for (const Pose<double>& X : poses_at_depth(scene, depth, poses)) {
        const Pose<double> X_SM = direction.pose(X);
        std::vector<int> triangles;
        direction.search.candidates(*direction.sdf, X_SM, settings.margin, triangles);
        std::vector<TriangleContact> found;
        direction.search.contacts(*direction.sdf, X_SM, settings, found);
        candidates += static_cast<double>(triangles.size());
        contacts += static_cast<double>(found.size());
        kept += static_cast<double>(direction.search.filtered(found, settings).size());
        double deepest = k_infinity, deepest_exact = k_infinity;
        for (const TriangleContact& contact : found) deepest = std::min(deepest, contact.distance);
        auto next = found.begin();
        for (int t = 0; t < direction.of->mesh.triangle_count(); ++t) {
          while (next != found.end() && next->triangle < t) ++next;
          Corners corners;
          corners_in_solid(direction, X_SM, t, corners);
          const double least = brute_force(corners, *direction.sdf, settings.margin).distance;
          deepest_exact = std::min(deepest_exact, least);
          if (least > settings.margin) continue;
          exact_contacts += 1;
          missed += next == found.end() || next->triangle != t;
          const Vec3<double> centroid = (corners[0] + corners[1] + corners[2]) / 3.0;
          by_circumradius += direction.sdf->distance(centroid) > circumradius(corners) + settings.margin;
        }
        manifold.find({Pose<double>(), X}, ManifoldOrder::value, scratch, block);
        const ManifoldSummary summary = summary_of(block, section);
        active += summary.active;
        const double exact = depth_in_mm(deepest_exact);
        short_by.add(exact - depth_in_mm(deepest));
        vertices_short.add(exact - depth_in_mm(summary.deepest_vertex));
        short_by_vertices += exact - depth_in_mm(summary.deepest_vertex);
        short_with_edges += exact - depth_in_mm(summary.deepest);
      }
      const double n = poses;
      table.add_row({direction.name, 1e3 * depth, candidates / n, contacts / n, kept / n, exact_contacts / n,
                     missed / n, by_circumradius / n, short_by.largest(), active / n, short_by_vertices / n,
                     vertices_short.largest(), short_with_edges / n});
    }
  }
  return table;
}

// Steps ----------------------------------------------------------------------------------------------------

/// The least number of steps after which a search is within `tolerance` [m] of the minimum, k_most_steps + 1
/// if there is none up to there. Distances never rise with the number of steps.
int steps_until(const std::function<double(int)>& distance_after, double limit) {
  int enough = 1;
  if (distance_after(0) <= limit) return 0;
  while (distance_after(enough) > limit) {
    if (enough >= k_most_steps) return k_most_steps + 1;
    enough = std::min(2 * enough, k_most_steps);
  }
  int too_few = enough / 2;
  while (enough - too_few > 1) {
    const int middle = (enough + too_few) / 2;
    (distance_after(middle) <= limit ? enough : too_few) = middle;
  }
  return enough;
}

Table steps_table(const Scene& scene, int poses) {
  Table table({"triangles of", "minimum", "contacts", "after 32 steps off by [mm], median", "99 %", "most",
               "steps to 1e-3, median", "99 %", "steps to 1e-6, median", "99 %", "not in 10,000 %",
               "projections to 1e-3, median", "99 %", "projections to 1e-6, median", "99 %", "not at all %"});
  const double size = scene.cow.size;
  for (const Direction& direction : scene.directions) {
    struct Row {
      Samples off, coarse, fine, projections_coarse, projections_fine;
      int never = 0, other_minimum = 0;
    };
    std::map<std::string, Row> rows;
    for (const double depth : k_depths) {
      for (const Pose<double>& X : poses_at_depth(scene, depth, poses)) {
        const Pose<double> X_SM = direction.pose(X);
        const FrankWolfeSettings settings;
        std::vector<int> triangles;
        direction.search.candidates(*direction.sdf, X_SM, settings.margin, triangles);
        for (const int t : triangles) {
          Corners corners;
          corners_in_solid(direction, X_SM, t, corners);
          const auto sdf = [&](const Vec3<double>& x) { return direction.sdf->evaluate(x); };
          const SampledMinimum sampled = brute_force(corners, *direction.sdf, settings.margin);
          const double exact = std::min(sampled.distance, projected_minimum(corners, sdf).distance);
          if (exact > settings.margin) continue;
          const std::array b{1.0 - sampled.b_1 - sampled.b_2, sampled.b_1, sampled.b_2};
          const auto zeros = std::count_if(b.begin(), b.end(), [](double x) { return x < 1e-6; });
          Row& row = rows[zeros == 2 ? "at a corner" : zeros == 1 ? "on a side" : "inside"];
          const auto frank_wolfe = [&](int steps) {
            return frank_wolfe_minimum(corners, sdf, steps).distance;
          };
          const auto projected = [&](int steps) { return projected_minimum(corners, sdf, steps).distance; };
          row.off.add(1e3 * (frank_wolfe(settings.iterations) - exact));
          row.coarse.add(steps_until(frank_wolfe, exact + 1e-3 * size));
          row.fine.add(steps_until(frank_wolfe, exact + 1e-6 * size));
          row.projections_coarse.add(steps_until(projected, exact + 1e-3 * size));
          row.projections_fine.add(steps_until(projected, exact + 1e-6 * size));
          row.never += frank_wolfe(k_most_steps) > exact + 1e-6 * size;
          row.other_minimum += projected(k_most_steps) > exact + 1e-6 * size;
        }
      }
    }
    for (auto& [place, row] : rows) {
      const double count = static_cast<double>(row.off.size());
      table.add_row({direction.name, place, count, row.off.median(), row.off.quantile(0.99),
                     row.off.largest(), row.coarse.median(), row.coarse.quantile(0.99), row.fine.median(),
                     row.fine.quantile(0.99), 100.0 * row.never / count, row.projections_coarse.median(),
                     row.projections_coarse.quantile(0.99), row.projections_fine.median(),
                     row.projections_fine.quantile(0.99), 100.0 * row.other_minimum / count});
    }
  }
  return table;
}

// Times ----------------------------------------------------------------------------------------------------

Table times_table(const Scene& scene, int poses) {
  Table table({"search", "us a pair, median", "by Frank-Wolfe with 32 steps, both directions"});
  const PairManifold<double> manifold(scene.cylinder, scene.cow, ContactConfig());
  ContactConfig of_vertices;
  of_vertices.edge_edge = false;
  const PairManifold<double> vertices(scene.cylinder, scene.cow, of_vertices);
  PairScratch<double> scratch;
  ContactBlock<double> block;
  FrankWolfeSettings settings, short_search;
  short_search.iterations = 8;
  std::vector<int> triangles;
  std::vector<TriangleContact> found;
  double sum = 0.0;  // of what is found, so that nothing is left out
  const auto by_frank_wolfe = [&](const Pose<double>& X, const FrankWolfeSettings& how, bool is_filtered) {
    for (const Direction& direction : scene.directions) {
      direction.search.contacts(*direction.sdf, direction.pose(X), how, found);
      sum += static_cast<double>(is_filtered ? direction.search.filtered(found, how).size() : found.size());
    }
  };
  const std::vector<std::pair<std::string, std::function<void(const Pose<double>&)>>> searches{
      {"Frank-Wolfe, 32 steps", [&](const auto& X) { by_frank_wolfe(X, settings, false); }},
      {"the same, 8 steps", [&](const auto& X) { by_frank_wolfe(X, short_search, false); }},
      {"32 steps and the filter", [&](const auto& X) { by_frank_wolfe(X, settings, true); }},
      {"projections to rounding",
       [&](const auto& X) {
         for (const Direction& direction : scene.directions) {
           const Pose<double> X_SM = direction.pose(X);
           direction.search.candidates(*direction.sdf, X_SM, settings.margin, triangles);
           for (const int t : triangles) {
             Corners corners;
             corners_in_solid(direction, X_SM, t, corners);
             sum += projected_minimum(corners, [&](const Vec3<double>& x) {
                      return direction.sdf->evaluate(x);
                    }).distance;
           }
         }
       }},
      {"manifold",
       [&](const auto& X) {
         manifold.find({Pose<double>(), X}, ManifoldOrder::value, scratch, block);
         sum += block.count;
       }},
      {"manifold, vertices alone", [&](const auto& X) {
         vertices.find({Pose<double>(), X}, ManifoldOrder::value, scratch, block);
         sum += block.count;
       }}};
  std::vector<Samples> times(searches.size());
  for (const double depth : k_depths) {
    for (const Pose<double>& X : poses_at_depth(scene, depth, poses)) {
      for (std::size_t i = 0; i < searches.size(); ++i) {
        double best = k_infinity;
        for (int repetition = 0; repetition < 5; ++repetition) {
          double seconds = 0.0;
          {
            const CpuTimer timer(seconds);
            searches[i].second(X);
          }
          best = std::min(best, seconds);
        }
        times[i].add(1e6 * best);
      }
    }
  }
  if (!std::isfinite(sum)) throw std::runtime_error("a distance is not finite");
  for (std::size_t i = 0; i < searches.size(); ++i)
    table.add_row({searches[i].first, times[i].median(), times[i].median() / times[0].median()});
  return table;
}

// Continuity -----------------------------------------------------------------------------------------------

/// Mean of depth times normal over contacts, by their weights: the force of a pair of stiffness 1 [N/m].
class MeanForce {
 public:
  void add(double weight, double distance, const Vec3<double>& normal) {
    weight_ += weight;
    force_ += weight * std::max(0.0, -distance) * normal;
  }
  [[nodiscard]] Vec3<double> value() const {
    return weight_ > 0.0 ? Vec3<double>(force_ / weight_) : Vec3<double>(Vec3<double>::Zero());
  }

 private:
  double weight_ = 0.0;
  Vec3<double> force_ = Vec3<double>::Zero();
};

Table continuity_table(const Scene& scene, int paths) {
  Table table({"contacts of", "step of the path", "changes of their number",
               "largest change of the force in a step %, median of paths", "most"});
  const PairManifold<double> manifold(scene.cylinder, scene.cow, ContactConfig());
  PairScratch<double> scratch;
  ContactBlock<double> block;
  std::vector<TriangleContact> found;
  const FrankWolfeSettings settings;
  const Direction& direction = scene.directions.front();
  struct Answer {
    int contacts = 0;
    Vec3<double> force;
  };
  const auto of_list = [](const std::vector<TriangleContact>& contacts) {
    MeanForce force;
    for (const TriangleContact& contact : contacts) force.add(1.0, contact.distance, contact.normal);
    return Answer{static_cast<int>(contacts.size()), force.value()};
  };
  const std::vector<std::pair<std::string, std::function<Answer(const Pose<double>&)>>> methods{
      {"Frank-Wolfe",
       [&](const auto& X) {
         direction.search.contacts(*direction.sdf, X, settings, found);
         return of_list(found);
       }},
      {"Frank-Wolfe, filtered",
       [&](const auto& X) {
         direction.search.contacts(*direction.sdf, X, settings, found);
         return of_list(direction.search.filtered(found, settings));
       }},
      {"manifold", [&](const auto& X) {
         manifold.find({Pose<double>(), X}, ManifoldOrder::value, scratch, block);
         MeanForce force;
         for (int i = 0; i < block.count; ++i) {
           force.add(block.number(k_contact_activity, i) * block.number(k_contact_area, i),
                     block.number(k_contact_distance, i), block.vector(k_contact_normal, i));
         }
         return Answer{block.count, force.value()};
       }}};
  for (const auto& [name, answer] : methods) {
    for (const int steps : {200, 2000, 20000}) {
      Samples largest;
      int changes = 0;
      Random random(4);
      for (const Pose<double>& X_0 : poses_at_depth(scene, k_depths[1], paths)) {
        const Vec3<double> turn = random.unit_vector(), way = scene.cow.size * random.unit_vector();
        Answer before = answer(X_0);
        double most = 0.0, mean = 0.0;
        for (int i = 1; i <= steps; ++i) {
          const Pose<double> X = retract(X_0, Vec6<double>(k_path * i / steps * stack<double>(turn, way)));
          const Answer now = answer(X);
          changes += now.contacts != before.contacts;
          most = std::max(most, (now.force - before.force).norm());
          mean += now.force.norm() / steps;
          before = now;
        }
        largest.add(mean > 0.0 ? 100.0 * most / mean : 0.0);
      }
      table.add_row(
          {name, k_path / steps, static_cast<double>(changes) / paths, largest.median(), largest.largest()});
    }
  }
  return table;
}

}  // namespace
}  // namespace abut::benchmarks

int main(int argc, char** argv) {
  using namespace abut;
  using namespace abut::benchmarks;
  const std::map<std::string, std::function<Table(const Scene&, int)>> tables{
      {"contacts", contacts_table},
      {"steps", [](const Scene& scene, int poses) { return steps_table(scene, (poses + 3) / 4); }},
      {"times", times_table},
      {"continuity", [](const Scene& scene, int poses) { return continuity_table(scene, (poses + 3) / 4); }}};
  CLI::App app("Compares the contact search by Frank and Wolfe's method with brute force and the manifold.",
               "abut_frank_wolfe");
  std::string name;
  std::filesystem::path mesh;
  int poses = 16;
  app.add_option("table", name, "contacts, steps, times, continuity, or all")->required();
  app.add_option("--mesh", mesh, "a finer mesh of the cow; without it, that of the bundled body");
  app.add_option("--poses", poses, "of each depth; steps and continuity take a quarter of them")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (name != "all" && !tables.contains(name)) {
      fmt::print(stderr, "abut_frank_wolfe: no table '{}'; try --help\n", name);
      return 2;
    }
    const Scene scene(make_cylinder(), make_cow(mesh));
    fmt::print("cow: {} triangles, kappa {:.2f}; cylinder: {} triangles, kappa {:.2f}\n",
               scene.cow.mesh.triangle_count(), scene.cow_sdf.distance_ratio(),
               scene.cylinder.mesh.triangle_count(), scene.cylinder_sdf.distance_ratio());
    for (const auto& [its_name, measure] : tables) {
      if (name != "all" && name != its_name) continue;
      fmt::print("\n## {}\n\n{}", its_name, measure(scene, poses).markdown());
      std::fflush(stdout);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "abut_frank_wolfe: {}\n", error.what());
    return 1;
  }
  return 0;
}
