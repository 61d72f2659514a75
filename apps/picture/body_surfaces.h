/// Bodies in a picture: which surface stands for each, made when it is first drawn and kept.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "apps/picture/picture.h"
#include "engine/model.h"
#include "engine/pose.h"

namespace abut {

enum class BodySurface { mesh, sdf, none };

/// How bodies are drawn.
struct BodyDisplay {
  /// In place of a mesh: of a body without one the surface of its SDF; of a rounded box, whose mesh leaves
  /// out the edge radius, its own surface (but not as wireframe).
  BodySurface surface = BodySurface::mesh;
  bool wireframe = false;
  bool translucent = false;
  bool floor = true;
  double iso_level = 0.0;    ///< of BodySurface::sdf [m]
  bool discrepancy = false;  ///< the mesh coloured by its SDF; of BodySurface::mesh
  int primitive_body = -1;   ///< whose primitives are shown one by one, -1: nobody's
  int primitive = -1;        ///< which of them, -1: all
};

/// Surfaces of the bodies of one model.
class BodySurfaces {
 public:
  /// @param pulse  called now and then while a surface that takes long is made; may be empty
  explicit BodySurfaces(std::function<void()> pulse = {}) : pulse_(std::move(pulse)) {}

  /// The surface that stands for a body, in its frame; null of a body of half-spaces alone, of a level inside
  /// of everything, and with BodySurface::none.
  [[nodiscard]] SharedSurface surface_of(const Model& model, int body, const BodyDisplay& display);

  /// Adds what is seen of a body: its surface or its primitives, a floor for each half-space.
  void add_body(const Model& model, int body, const Pose<double>& X_WB, const BodyDisplay& display,
                bool highlighted, Picture& picture);
  void add_bodies(const Model& model, std::span<const Pose<double>> X_WB, const BodyDisplay& display,
                  int highlighted, Picture& picture);

  /// Drops every surface: those of another model follow.
  void clear() { surfaces_.clear(); }

 private:
  enum class Kind { mesh, rounded_box, sdf, primitive, discrepancy };
  [[nodiscard]] SharedSurface kept(const Body& of, Kind kind, int body, int primitive, double level);
  void add_primitives(const Body& of, int body, DrawnSurface drawn, const BodyDisplay& display,
                      Picture& picture);

  std::function<void()> pulse_;
  double level_ = 0.0;  // of the surfaces of SDFs that are kept
  std::map<std::tuple<Kind, int, int>, SharedSurface> surfaces_;
};

}  // namespace abut
