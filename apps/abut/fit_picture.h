/// A picture of a fit: the input, the primitives, the body, and the error in colour, side by side.
#pragma once

#include <array>
#include <string>

#include "apps/picture/image.h"
#include "apps/picture/picture.h"
#include "collision/fitting/fit_quality.h"
#include "engine/coloured_mesh.h"
#include "engine/mesh.h"
#include "engine/model.h"

namespace abut {

/// What there is to see of a fit, in the frame of the body.
struct FitSubject {
  const ColouredMesh& input;  ///< as it is drawn
  int input_triangles;        ///< that there were, before any were left out to draw it
  const Body& body;
  const TriangleMesh& zero_set;  ///< fine mesh of it
  const FitQuality& quality;
};

/// The four views, from one camera: the input in its colours; the primitives, each in its own; the zero set
/// of the body; the input again, coloured by its signed distance from the zero set.
[[nodiscard]] std::array<Picture, 4> fit_views(const FitSubject& subject, double aspect);

/// "5 primitives", "5 primitives, 2 subtracted": the title of the second view.
[[nodiscard]] std::string primitives_title(const Shape& shape);

/// The distance that full colour stands for [m]: a round percentage of the size of the input, at least 0.1 %,
/// below which 95 % of the input lie.
[[nodiscard]] double colour_range(const FitSubject& subject);

/// The views with titles, one scale bar, and a legend in % of the size and in millimetres. Throws
/// std::runtime_error saying what is missing where this machine cannot draw.
[[nodiscard]] Image fit_picture(const FitSubject& subject);

}  // namespace abut
