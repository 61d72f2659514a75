/// Every detector with every contact law on four bundled scenes, and what searches by gradients make of them:
///
///     abut_detector_comparison motion|laws|search|relaxation
///
/// motion: a row for each scene and detector, with the default law; laws: a row for each scene and law, of
/// all detectors but frank_wolfe
///   steps/s      median of three rollouts, by processor time
///   depth        deepest overlap of the bodies' solids at the end, in per cent of the smaller body [%]
///   jitter       root mean square of what twists of the last 50 steps differ from their mean [m/s, rad/s]
///   error        median relative error of the adjoint against differences, of 24 random directions (8 where
///                fewer than 200 steps are taken in a second)
///   useless      share of them where the adjoint is 0 and differences are not, is not finite, or is over 100
///                times as large as differences
/// search: how many of the same 20 guesses lead to the true parameters (identify) or the goals (optimize); of
///         those that end within 500 s
/// relaxation: errors and sizes of derivatives of proximity_qp over its qp_relaxation, and the same of
/// gradients
///             of scenes
#include <cstdio>
#include <exception>
#include <string_view>

#include "tests/benchmarks/detector_comparison/comparison.h"

int main(int argc, char** argv) {
  using namespace abut::benchmarks;
  constexpr struct {
    std::string_view name;
    void (*print)();
  } k_tables[] = {{"motion", print_motion},
                  {"laws", print_laws},
                  {"search", print_search},
                  {"relaxation", print_relaxation}};
  try {
    for (const auto& [name, print] : k_tables) {
      if (argc != 2 || name != argv[1]) continue;
      print();
      return 0;
    }
    std::fputs("usage: abut_detector_comparison motion|laws|search|relaxation\n", stderr);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "abut_detector_comparison: %s\n", error.what());
  }
  return 1;
}
