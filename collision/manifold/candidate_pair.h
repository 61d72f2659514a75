/// A pair of bodies whose contacts are asked for.
#pragma once

namespace abut {

struct CandidatePair {
  int body_A = -1, body_B = -1;  ///< body_A < body_B
  double margin = 0.0;           ///< the sum of those of both bodies, see ContactDetector::detect() [m]
};

}  // namespace abut
