#include "collision/fitting/convex_decomposition.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>

#include <Eigen/Eigenvalues>

#include "collision/fitting/convex_pieces.h"
#include "collision/fitting/convex_reduction.h"
#include "collision/fitting/grid_rows.h"
#include "collision/fitting/mesh_cleaning.h"
#include "collision/fitting/parallel_chunks.h"
#include "collision/fitting/query_cost.h"
#include "engine/check.h"
#include "engine/convex_hull.h"
#include "engine/primitive_builder.h"
#include "engine/primitive_check.h"

namespace abut {
namespace {

constexpr double k_negligible_excess = 0.2;  // of what a part must be worth
constexpr double k_imbalance_weight = 0.05;  // of the excess of the piece that is cut
constexpr double k_small_face_handicap = 0.02, k_even_plane_handicap = 0.03;
constexpr double k_worse_on_edge = 0.005;  // the score of a plane may become, relative to the same
constexpr int k_offsets = 7;               // evenly spaced planes of one direction
constexpr int k_refinements = 3;           // of their offset, each of half the step
constexpr std::size_t k_most_faces = 30, k_face_directions = 4;
constexpr double k_same_direction = 0.985;  // cos of 10 degrees
constexpr int k_most_triangles = 50'000;    // beyond which vertices become one within
constexpr double k_weld = 0.5;              // so many spacings

struct RatedCut {
  CutPlane plane;
  double step = 0.0;  // between neighbouring offsets; 0: the plane is that of a flat face
  double handicap =
      0.0;  // relative to the excess of the piece: large faces come first, evenly spaced planes last
  double score = k_infinity;
};

void rate(const ConvexPiece& piece, const GridRows& rows, RatedCut& cut) {
  const std::optional<CutEstimate> estimate = estimate_cut(piece, cut.plane, rows);
  cut.score = estimate ? estimate->excess +
                             piece.hull.excess * (k_imbalance_weight * estimate->imbalance + cut.handicap)
                       : k_infinity;
}

/// The axes of the grid, normals of large flat faces, and the principal axes of a piece.
std::vector<Vec3<double>> directions_of(const ConvexPiece& piece, const std::vector<FacePlane>& faces) {
  std::vector<Vec3<double>> directions;
  const auto add = [&](const Vec3<double>& d) {
    if (std::none_of(directions.begin(), directions.end(),
                     [&](const Vec3<double>& other) { return std::abs(other.dot(d)) > k_same_direction; }))
      directions.push_back(d);
  };
  for (std::size_t i = 0; i < std::min(faces.size(), k_face_directions); ++i) add(faces[i].plane.normal);
  for (int axis = 0; axis < 3; ++axis) add(Vec3<double>::Unit(axis));
  const Points centred = piece.hull.corners.colwise() - piece.hull.corners.rowwise().mean();
  const Eigen::SelfAdjointEigenSolver<Mat3<double>> axes(Mat3<double>(centred * centred.transpose()));
  for (int axis = 0; axis < 3; ++axis) add(axes.eigenvectors().col(axis));
  return directions;
}

std::vector<RatedCut> candidates(const ConvexPiece& piece, const std::vector<FacePlane>& faces) {
  std::vector<RatedCut> cuts;
  const auto extent = [&](const Vec3<double>& n) {
    const Eigen::RowVectorXd along = n.transpose() * piece.hull.corners;
    return std::pair(along.minCoeff(), along.maxCoeff());
  };
  for (std::size_t i = 0; i < std::min(faces.size(), k_most_faces); ++i) {
    const auto [low, high] = extent(faces[i].plane.normal);
    if (faces[i].plane.offset > low && faces[i].plane.offset < high)
      cuts.push_back({faces[i].plane, 0.0, k_small_face_handicap * (1.0 - faces[i].area / faces[0].area)});
  }
  for (const Vec3<double>& n : directions_of(piece, faces)) {
    const auto [low, high] = extent(n);
    const double step = (high - low) / (k_offsets + 1);
    for (int i = 1; i <= k_offsets; ++i) cuts.push_back({{n, low + i * step}, step, k_even_plane_handicap});
  }
  return cuts;
}

/// The plane through as many corners of the piece's triangles as can be, within a spacing: those along an
/// edge.
CutPlane snapped(const ConvexPiece& piece, CutPlane plane) {
  constexpr double k_bin = 0.05, k_reach = 1.0;
  std::map<int, std::pair<int, double>> bins;  // number of corners, and the sum of their distances
  for (const TriangleCorners& triangle : piece.triangles) {
    for (const Vec3<double>& corner : triangle) {
      const double d = plane.normal.dot(corner) - plane.offset;
      if (std::abs(d) > k_reach) continue;
      auto& [count, sum] = bins[static_cast<int>(std::lround(d / k_bin))];
      ++count;
      sum += d;
    }
  }
  const auto most = std::max_element(
      bins.begin(), bins.end(), [](const auto& a, const auto& b) { return a.second.first < b.second.first; });
  if (most != bins.end()) plane.offset += most->second.second / most->second.first;
  return plane;
}

/// The best plane to cut a piece by; none if none leaves something on both sides.
std::optional<CutPlane> best_cut(const ConvexPiece& piece, const std::vector<FacePlane>& faces,
                                 const GridRows& rows, int threads) {
  std::vector<RatedCut> cuts = candidates(piece, faces);
  for_each_chunk(static_cast<int>(cuts.size()), threads, [&](int i) { rate(piece, rows, cuts[at(i)]); });
  const auto is_better = [](const RatedCut& a, const RatedCut& b) { return a.score < b.score; };
  RatedCut best = *std::min_element(cuts.begin(), cuts.end(), is_better);
  if (!(best.score < k_infinity)) return std::nullopt;
  for (int i = 0; i < k_refinements && best.step > 0.0; ++i) {
    best.step *= 0.5;
    for (const double by : {-best.step, best.step}) {
      RatedCut other = best;
      other.plane.offset += by;
      rate(piece, rows, other);
      if (is_better(other, best)) best = other;
    }
  }
  if (best.step > 0.0) {
    RatedCut on_edge = best;
    on_edge.plane = snapped(piece, best.plane);
    rate(piece, rows, on_edge);
    if (on_edge.score <= best.score + k_worse_on_edge * piece.hull.excess) best = on_edge;
  }
  return best.plane;
}

double volume_of(const std::vector<ConvexPiece>& pieces) {
  double volume = 0.0;
  for (const ConvexPiece& piece : pieces) volume += piece.volume;
  return volume;
}

/// Hulls of unions of pieces.
class Merger {
 public:
  Merger(std::vector<ConvexPiece> pieces, const GridRows& rows, int threads)
      : rows_(rows), threads_(threads) {
    for (ConvexPiece& piece : pieces) parts_.push_back({std::move(piece.hull), piece.volume});
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t b = 1; b < parts_.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) pairs.emplace_back(a, b);
    }
    add_unions(pairs);
  }

  struct Part {
    PieceHull hull;
    double volume;  // of its pieces
  };
  [[nodiscard]] const std::vector<Part>& parts() const { return parts_; }

  /// The excess and the lost volume that the cheapest step adds.
  [[nodiscard]] double cheapest() const {
    return std::min(unions_.empty() ? k_infinity : best_union()->cost, least_part()->volume);
  }
  void take_cheapest() {
    if (unions_.empty() || least_part()->volume < best_union()->cost) {
      remove(static_cast<std::size_t>(least_part() - parts_.begin()));
      return;
    }
    const Union chosen = *best_union();
    const std::optional<PieceHull> hull = hull_of(corners_of(chosen.a, chosen.b), rows_);
    ABUT_ASSERT(hull);
    const double volume = parts_[chosen.a].volume + parts_[chosen.b].volume;
    remove(chosen.b);
    remove(chosen.a);
    parts_.push_back({*hull, volume});
    std::vector<std::pair<std::size_t, std::size_t>> pairs;
    for (std::size_t a = 0; a + 1 < parts_.size(); ++a) pairs.emplace_back(a, parts_.size() - 1);
    add_unions(pairs);
  }

 private:
  struct Union {
    std::size_t a, b;  // parts, a < b
    double cost;       // outside of the mesh, more than that of both alone
  };

  [[nodiscard]] Points corners_of(std::size_t a, std::size_t b) const {
    Points both(3, parts_[a].hull.corners.cols() + parts_[b].hull.corners.cols());
    both << parts_[a].hull.corners, parts_[b].hull.corners;
    return both;
  }

  [[nodiscard]] std::vector<Union>::const_iterator best_union() const {
    return std::min_element(unions_.begin(), unions_.end(),
                            [](const Union& x, const Union& y) { return x.cost < y.cost; });
  }
  [[nodiscard]] std::vector<Part>::const_iterator least_part() const {
    return std::min_element(parts_.begin(), parts_.end(),
                            [](const Part& x, const Part& y) { return x.volume < y.volume; });
  }

  void add_unions(const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
    std::vector<double> excess(pairs.size());
    for_each_chunk(static_cast<int>(pairs.size()), threads_, [&](int i) {
      const auto [a, b] = pairs[at(i)];
      const std::optional<PieceHull> hull = rough_hull_of(corners_of(a, b), rows_);
      excess[at(i)] = hull ? hull->excess : k_infinity;
    });
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      const auto [a, b] = pairs[i];
      if (excess[i] < k_infinity)
        unions_.push_back({a, b, excess[i] - parts_[a].hull.excess - parts_[b].hull.excess});
    }
  }

  void remove(std::size_t part) {
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(part));
    std::erase_if(unions_, [&](const Union& u) { return u.a == part || u.b == part; });
    for (Union& u : unions_) {
      u.a -= u.a > part ? 1 : 0;
      u.b -= u.b > part ? 1 : 0;
    }
  }

  const GridRows& rows_;
  int threads_;
  std::vector<Part> parts_;
  std::vector<Union> unions_;
};

/// The primitive of a solid; none if nothing is left of it.
std::optional<Primitive> primitive_of(const BoxedSolid& boxed, const GridRows& rows) {
  const HalfSpaces& solid = boxed.solid;
  std::vector<double> offsets = solid.offsets;
  const auto relative_to = [&](const Vec3<double>& x) {
    for (std::size_t i = 0; i < offsets.size(); ++i)
      offsets[i] = solid.offsets[i] - solid.normals.col(static_cast<Eigen::Index>(i)).dot(x);
  };
  try {
    relative_to(boxed.inside);
    const Vec3<double> centre =
        boxed.inside + Vec3<double>(polyhedron_vertices(solid.normals, offsets).rowwise().mean());
    relative_to(centre);
    for (double& offset : offsets) offset *= rows.spacing();
    Primitive primitive = make_convex_polyhedron(solid.normals, offsets);
    primitive.X_BP.p = rows.in_metres(centre);
    return primitive;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

/// Cuts the inside of a mesh until the hulls of the pieces have little outside of it, or there are enough.
std::vector<ConvexPiece> cut_into_pieces(const TriangleMesh& mesh, const GridRows& rows,
                                         const ConvexDecompositionOptions& options) {
  const std::vector<FacePlane> faces = face_planes(mesh, rows);
  const auto triangles = [&] {
    if (mesh.triangle_count() <= k_most_triangles) return fine_triangles(mesh, rows);
    CleaningCounts counts;
    return fine_triangles(clean_mesh(mesh, k_weld * rows.spacing(), counts), rows);
  };
  std::vector<ConvexPiece> pieces = whole_pieces(rows.inside(), triangles(), rows);
  const double negligible = k_negligible_excess * options.least_gain * volume_of(pieces);
  const std::size_t most = 10 + 2 * at(options.max_parts);
  std::vector<ConvexPiece> done;  // that no plane divides
  while (!pieces.empty() && pieces.size() + done.size() < most) {
    const auto worst = std::max_element(pieces.begin(), pieces.end(), [](const auto& a, const auto& b) {
      return a.hull.excess < b.hull.excess;
    });
    if (!(worst->hull.excess > negligible)) break;
    if (options.progress)
      options.progress("pieces", static_cast<int>(pieces.size() + done.size()), static_cast<int>(most));
    ConvexPiece piece = std::move(*worst);
    pieces.erase(worst);
    const std::optional<CutPlane> plane = best_cut(piece, faces, rows, options.threads);
    std::vector<ConvexPiece> parts;
    if (plane) parts = cut(piece, *plane, rows);
    if (parts.size() < 2) {
      done.push_back(std::move(piece));
    } else {
      std::move(parts.begin(), parts.end(), std::back_inserter(pieces));
    }
  }
  std::move(done.begin(), done.end(), std::back_inserter(pieces));
  return pieces;
}

/// Polyhedra of few planes for hulls.
std::vector<Primitive> polyhedra_of(const std::vector<Merger::Part>& parts, const GridRows& rows,
                                    const PlaneReduction& reduction, int threads) {
  std::vector<BoxedSolid> solids(parts.size());
  for_each_chunk(static_cast<int>(solids.size()), threads,
                 [&](int i) { solids[at(i)] = reduced(parts[at(i)].hull, rows, reduction); });
  settle_planes(solids, rows);
  std::vector<Primitive> primitives;
  for (const BoxedSolid& solid : solids) {
    if (const std::optional<Primitive> primitive = primitive_of(solid, rows))
      primitives.push_back(*primitive);
  }
  return primitives;
}

}  // namespace

ConvexDecomposition decompose(const TriangleMesh& mesh, const DistanceGrid& grid,
                              const ConvexDecompositionOptions& options) {
  require(options.max_parts >= 1 && options.max_planes >= 4 && options.least_gain >= 0.0,
          "max_parts must be >= 1, max_planes >= 4, least_gain >= 0");
  ConvexDecomposition result;
  const GridRows rows(grid);
  std::vector<ConvexPiece> pieces = cut_into_pieces(mesh, rows, options);
  if (pieces.empty()) return result;
  result.report.pieces = static_cast<int>(pieces.size());
  const double worth = options.least_gain * volume_of(pieces);

  Merger merger(std::move(pieces), rows, options.threads);
  while (merger.parts().size() > 1 &&
         (merger.parts().size() > at(options.max_parts) || merger.cheapest() < worth))
    merger.take_cheapest();

  const PlaneReduction reduction{at(options.max_planes), std::max(worth / k_planes_per_superquadric, 1e-9)};
  result.parts = polyhedra_of(merger.parts(), rows, reduction, options.threads);
  while (options.is_good_enough && merger.parts().size() > 1) {
    merger.take_cheapest();
    std::vector<Primitive> fewer = polyhedra_of(merger.parts(), rows, reduction, options.threads);
    if (!options.is_good_enough(fewer)) break;
    result.parts = std::move(fewer);
  }
  for (const Primitive& part : result.parts) result.report.planes += static_cast<int>(part.values.size());
  return result;
}

void bound_edges(Shape& shape) {
  if (shape.primitives.size() < 2) return;
  // Where two parts meet the union rises by tau ln 2, and their edges are lower by tau_c ln 2 or a little
  // more: no groove is left.
  for (Primitive& part : shape.primitives) {
    if (part.kind == PrimitiveKind::convex_polyhedron)
      part.parameters[0] =
          std::max(std::min(part.parameters[0], 0.5 * shape.union_smoothing), k_least_length);
  }
}

double flat_share(const TriangleMesh& mesh, const DistanceGrid& grid) {
  constexpr double k_large = 0.015;
  const GridRows rows(grid);
  double total = 0.0, flat = 0.0;
  for (const double area : vertex_areas(mesh)) total += area / (rows.spacing() * rows.spacing());
  for (const FacePlane& face : face_planes(mesh, rows)) flat += face.area > k_large * total ? face.area : 0.0;
  return total > 0.0 ? flat / total : 0.0;
}

}  // namespace abut
