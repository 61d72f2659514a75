/// Tables of abut_detector_comparison, see main.cpp. Each prints markdown on stdout and a line for each row
/// on stderr as soon as it is known.
#pragma once

#include <filesystem>

#include "engine/config.h"

namespace abut::benchmarks {

inline const std::filesystem::path k_source = ABUT_SOURCE_DIR;

struct NamedDetector {
  const char* name;
  DetectorKind kind;
};
inline constexpr NamedDetector k_detectors[] = {{"manifold", DetectorKind::manifold},
                                                {"gjk", DetectorKind::gjk},
                                                {"proximity_qp", DetectorKind::proximity_qp},
                                                {"frank_wolfe", DetectorKind::frank_wolfe}};

void print_motion();
void print_laws();
void print_search();
void print_relaxation();

}  // namespace abut::benchmarks
