/// Constants of the velocity solvers: thresholds, patience, restarts. They are not settings; a solve depends
/// on them only where it is hard.
///
/// The measurement that chose them: `abut_dynamics_tables --table newton_constants` (and
/// `interior_point_constants`) prints what half and double of each do to hard problems, and docs/dynamics.md
/// ("Constants of the solver") keeps the tables. A comment says "half" or "double" where one of these leaves
/// problems unsolved or changes the work on hard ones by 5 % or more; the others are flat there. All are
/// dimensionless [-].
#pragma once

namespace abut {

struct NewtonConstants {
  // Newton's method on the balance of momentum (coupled_newton.cpp, convex_newton.cpp)

  /// A full step is taken where the slope at its end is at most this part of that at its start. Without the
  /// search that follows otherwise 23 % of random steps fail.
  double full_step_slope = 0.5;
  /// A residual has made progress once it is below this part of the last one that had.
  double progress = 0.5;
  /// Iterations before a residual that no longer falls may be put down to rounding.
  int least_iterations = 3;
  /// Residual over MomentumBalance::rounding() that is put down to it, at most. Of 600 problems all end with
  /// 1/2, three do not with 1/4.
  double rounding_factor = 4.0;
  /// Residuals above this are never put down to rounding: the largest that rounding leaves of 600 problems is
  /// 7e-10.
  double largest_rounding = 1e-6;

  // Approach by the tangents of contact_laws/dual_tangent.h (CoupledNewton::approach())

  double far_from_solution = 0.1;  ///< residual at the start above which it comes first
  int approach_iterations = 25;  ///< at most; of 8,000 impacts of piles 0.3 % take more; half: -8, +16 % work
  double approach_end = 1e-3;    ///< residual, by these tangents, below which it ends

  // Search along a step (MomentumBalance::root_along(), CoupledNewton::step_length())

  double line_slope = 0.1;       ///< part of the slope at the start at which it ends
  int line_iterations = 60;      ///< at most: halves an interval to rounding
  double line_interval = 1e-13;  ///< length of an interval at which it ends, over its upper end
  double line_expansion = 4.0;   ///< factor by which a step that is too short grows
  int line_expansions = 12;      ///< how often at most; without any, rods at friction 1.31 to 1.35 stall

  // From the state itself (CoupledNewton::direct())

  double near_solution = 1e-3;  ///< residual up to which the velocities of before are the start
  int patience = 12;       ///< iterations without progress before a convex pass; half, double: +7, -9 % work
  int convex_passes = 3;   ///< convex passes
  int last_patience = 20;  ///< iterations without progress after the last; double: -6 % work
  double rough_tolerance = 1e-6;  ///< relative residual of convex passes and of stages of friction

  // Graduated friction (CoupledNewton::graduated())

  double widest_stiction = 1e5;     ///< stiction speed of the first stage, over v_s
  double coarsest_stage = 3.0;      ///< factor between the stiction speeds of two stages
  double finer_stage = 0.4;         ///< change of its logarithm after a failure; double: +5 % work
  double coarser_stage = 1.5;       ///< and after a success
  double finest_stage = 1e-3;       ///< logarithm below which it gives up
  int stages = 200;                 ///< at most
  int first_stage_iterations = 60;  ///< iterations of the first stage
  int first_stage_patience = 20;    ///< iterations without progress of the first stage
  int stage_iterations = 30;        ///< iterations of a stage between the first and the last
  int stage_patience = 10;          ///< iterations without progress of any later stage

  // Other starts (CoupledNewton::from_elsewhere())

  int starts = 20;           ///< pseudo-random starts
  int start_patience = 15;   ///< iterations without progress from one of them
  double start_speed = 0.5;  ///< change of a velocity, over momentum_scale/sqrt(total mass)
  int start_seed = 1;        ///< of the pseudo-random numbers

  /// Convex passes with friction of a step that was not solved (SmoothCoulombSolver): the law before friction
  /// and normal impulses were solved together had as many. Decides on no solution.
  int friction_passes = 2;
};

inline constexpr NewtonConstants k_newton_constants{};

/// Constants of the interior point method and of its central path (other_laws/interior_point_iteration.h). Of
/// 24 hard problems 3 are unsolved; what leaves 1 to 5 so is within chance.
struct InteriorPointConstants {
  double inside = 0.99;  ///< part of the distance to the boundary that a step goes; half: 2.5 times the work
  double light = 1e-2;   ///< weight below which a contact shortens its own steps only
  double rounding = 1e-10;       ///< residual below which one that no longer falls is put down to rounding
  double largest_at_end = 10.0;  ///< largest product of a point at the end of the path [kappa]
  double least_at_end = 0.1;     ///< and the least one [kappa]
  double short_step = 0.1;  ///< length of a step after which the next goes back to the middle; double: +43 %
  double least_centring = 1e-4;  ///< products that a step aims at, over those there are: at least
  double most_centring = 0.8;    ///< and at most
  double off_centre = 0.01;      ///< least product over the mean below which friction is put back
  int at_start_iterations =
      8;  ///< of Newton's method from the velocities at the start; half, double: -17, +25 %
  int interior_iterations =
      40;  ///< of the interior point method before the path is followed; double: 21 unsolved
  double sufficient_decrease = 1e-4;    ///< of |F| along a step, over its length
  double shortest_step = 1e-7;          ///< of Newton's method at a point of the path
  double plain_end = 1e-2;              ///< expected residual, over the tolerance, that saves a factorization
  double stage_tolerance = 1e-5;        ///< relative residual of points of the path
  int stage_iterations = 12;            ///< of Newton's method at a point of the path
  int few_iterations = 4;               ///< of a stage, up to which the next is longer
  double first_ratio = 0.1;             ///< of the products of the first two points
  double least_ratio = 1e-2;            ///< of those of the longest stage
  double largest_ratio = 0.97;          ///< of those of the shortest
  double first_friction = 0.25;         ///< first part of friction that is added around a fold
  double least_friction = 1.0 / 256.0;  ///< the smallest
  double smooth_start = 10.0;  ///< t at which the path is joined first from the smooth Coulomb law's solution
  double smooth_start_factor = 10.0;  ///< between that and the next t that is tried
  int smooth_starts = 6;              ///< how many t are tried
  int last_digits_iterations = 6;     ///< of Newton's method for derivatives and impulses, to rounding
};

inline constexpr InteriorPointConstants k_interior_point_constants{};

}  // namespace abut
