/// The report of `abut fit`: how a body came about and how good it is, as text and JSON.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/abut/report.h"
#include "collision/fitting/fit_mesh.h"
#include "collision/fitting/fit_quality.h"
#include "collision/fitting/make_body.h"

namespace abut {

/// What there is to say about a fit. Of a body that was not made from a mesh, only `made`.
struct FitReport {
  std::string input;  ///< name of the file or folder
  MeshedBody made;
  std::optional<FittedMesh> fitted;
  std::optional<double> tolerance;  ///< that was asked for, relative to the size
  std::optional<FitQuality> quality;
  double seconds = 0.0;  ///< that it all took
};

/// The methods as the command line names them.
[[nodiscard]] std::map<std::string, FitMethod> fit_methods();
[[nodiscard]] std::string method_name(FitMethod method);

/// Why a fit is poor, a sentence each with what to try: an IoU below 0.8, a volume more than 10 % off and two
/// standard errors of the mesh's, lost parts or filled gaps with more than 3 % of the surface or more than
/// 10 % of the size away, parts that float apart with more than 3 % of the volume, a collision mesh that is
/// not closed, a tolerance that was not reached. None if the fit is good.
[[nodiscard]] std::vector<std::string> shortcomings(const FitReport& report);

/// One line each quantity.
[[nodiscard]] std::string text_of(const FitReport& report);

/// {"input", "seconds", "body": {...}, "collision_mesh": {...}, "notes": [...], "shortcomings": [...]}, and
/// of a mesh "mesh": {...}, "fit": {...}. Lengths are in metres, angles in radians.
[[nodiscard]] Json json_of(const FitReport& report);

}  // namespace abut
