/// Bodies in a picture: which surface stands for each, made when it is first drawn and kept.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/picture/picture.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

/// The colour of a body: its own, or that of the palette.
[[nodiscard]] Colour colour_of(const Body& body, int index);

/// Visual meshes of a model by the path of their file and the displacement from A to B.
using VisualSurfaces = std::map<std::tuple<std::string, double, double, double>, SharedSurface>;

/// Reads all of them. Throws InputError naming a file that is damaged.
[[nodiscard]] VisualSurfaces visual_surfaces(const Model& model);

enum class BodySurface { visual, mesh, sdf, none };

/// How bodies are drawn.
struct BodyDisplay {
  /// In place of a visual mesh, of a body without one: the smooth surface of its SDF, or its collision mesh
  /// where the solid has sharp edges, or as wireframe. In place of a collision mesh: of a body without one
  /// the surface of its SDF; of a rounded box, whose mesh leaves out the edge radius, its own surface (but
  /// not as wireframe).
  BodySurface surface = BodySurface::visual;
  bool wireframe = false;
  bool translucent = false;
  bool floor = true;
  double iso_level = 0.0;    ///< of BodySurface::sdf [m]
  bool discrepancy = false;  ///< the collision mesh coloured by its SDF, also in place of a visual mesh
  int primitive_body = -1;   ///< whose primitives are shown one by one, -1: nobody's
  int primitive = -1;        ///< which of them, -1: all
};

/// Surfaces of the bodies of one model, one for all bodies of the same geometry.
class BodySurfaces {
 public:
  /// @param pulse  called now and then while a surface that takes long is made; may be empty
  explicit BodySurfaces(std::function<void()> pulse = {}) : pulse_(std::move(pulse)) {}

  /// The surface that stands for a body, in its frame; null of a body of half-spaces alone, of a level inside
  /// of everything, and with BodySurface::none. Throws InputError for a visual mesh that cannot be read.
  [[nodiscard]] SharedSurface surface_of(const Model& model, int body, const BodyDisplay& display);

  /// Adds what is seen of a body: its surface or its primitives, a floor for each half-space.
  void add_body(const Model& model, int body, const Pose<double>& X_WB, const BodyDisplay& display,
                bool highlighted, Picture& picture);
  void add_bodies(const Model& model, std::span<const Pose<double>> X_WB, const BodyDisplay& display,
                  int highlighted, Picture& picture);

  /// Drops every surface: those of another model follow, whose visual meshes may have been read already.
  void reset(VisualSurfaces visuals) {
    surfaces_.clear();
    first_of_same_.clear();
    visuals_ = std::move(visuals);
  }

 private:
  enum class Kind { mesh, rounded_box, sdf, primitive, discrepancy, discrepancy_of_triangles };
  [[nodiscard]] SharedSurface kept(const Model& model, Kind kind, int body, int primitive, double level);
  void add_primitives(const Model& model, int body, DrawnSurface drawn, const BodyDisplay& display,
                      Picture& picture);

  std::function<void()> pulse_;
  double level_ = 0.0;              // of the surfaces of SDFs that are kept
  std::vector<int> first_of_same_;  // for each body the first of the same geometry; empty: not looked for yet
  std::map<std::tuple<Kind, int, int>, SharedSurface> surfaces_;  // by the first body and its primitive
  VisualSurfaces visuals_;
};

}  // namespace abut
