/// How the solution of a contact problem was found.
#pragma once

#include <array>

namespace abut {

/// From the usual way to the rarest (coupled_newton.h).
enum class SolutionPath { newton, convex_pass, graduated_friction, other_start, none };
inline constexpr std::array k_solution_paths{SolutionPath::newton, SolutionPath::convex_pass,
                                             SolutionPath::graduated_friction, SolutionPath::other_start,
                                             SolutionPath::none};

[[nodiscard]] const char* to_string(SolutionPath path);

}  // namespace abut
