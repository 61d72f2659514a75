/// The sums over a pair's rows that the velocity solver needs, eight rows at a time; one compilation of
/// row_kernel.h for each instruction set.
#pragma once

#include <span>

#include "dynamics/contact_laws/convex_cone.h"
#include "dynamics/contact_laws/impedance.h"
#include "dynamics/contact_laws/smooth_coulomb.h"
#include "dynamics/kernel/row_blocks.h"
#include "dynamics/kernel/row_vjp.h"

namespace abut {

/// Sums of K, [r] K, K [r] and -[r] K [r] over the rows of a pair, K = -d impulse/du; column by column.
struct ResistanceSums {
  double S0[9], S1[9], T1[9], S2[9];
};

/// -impulse.du and du.K du along a line: slope and curvature of the potential, where there is one.
struct LineSums {
  double slope = 0, curvature = 0;
};

/// What a row answers with.
///   frictionless     smooth_coulomb.h
///   bounded          and friction.h, bounded by what RowBlocks::set_bounds() left
///   coupled          and friction.h, bounded by mu times the normal impulse at the same velocity; K of it is
///                    not symmetric
///   dual             the tangents that dual_tangent.h takes of `coupled`
///   cone             convex_cone.h
enum class RowLaw { frictionless, bounded, coupled, dual, cone };

/// What the functions below need to know. Twists [w; v] and wrenches [torque; force] are 6 numbers, about the
/// pair's centre; plain arrays, as Eigen's functions could be taken from a file for the wrong instructions.
struct RowKernelInput {
  const smooth_coulomb::Settings& settings;
  RowLaw law;
  const double* V;                   ///< twist of B relative to A, less what is carried
  const double* turning;             ///< 3 numbers: BlockPair::turning
  double friction = 0;               ///< mu, of a cone and of coupled friction
  const double* V_before = nullptr;  ///< of dual: V before the last step; null at the start
};

struct RowKernels {
  /// Fills in target and scale.
  void (*set_law)(const smooth_coulomb::Settings&, double compliance, double dissipation_time,
                  std::span<RowBlock>);
  /// Fills in target, scale and ratio: of Drake's cone ...
  void (*set_cone)(const smooth_coulomb::Settings&, double sigma, double compliance, double dissipation_time,
                   std::span<RowBlock>);
  /// ... and of MuJoCo's.
  void (*set_impedance)(const impedance::Settings&, std::span<RowBlock>);
  /// Fills in impulse and slope (not of a cone), and takes the tangents of `dual`; the wrench of all impulses
  /// on B.
  void (*sum_impulses)(const RowKernelInput&, std::span<RowBlock>, double* wrench);
  /// From the slopes that sum_impulses() left for the same input.
  void (*sum_resistances)(const RowKernelInput&, std::span<const RowBlock>, ResistanceSums&);
  /// At V + a dV, by a; not of `dual`.
  void (*sum_line)(const RowKernelInput&, const double* dV, double a, std::span<const RowBlock>, LineSums&);
  /// Of 6 x 6 blocks, column by column (block_kernel.h): C -= A B^T, and X <- X L^-T.
  void (*subtract_block_product)(const double* A, const double* B, double* C);
  void (*solve_block_transposed)(const double* L, double* X);
  /// The way back of coupled friction: adds to the bars of rows, laws and friction.
  void (*impulse_vjp)(const smooth_coulomb::Settings&, PairImpulseBar&, std::span<const RowBlock>,
                      std::span<RowBarBlock>);
  /// From the laws' bars to those of distance, weight and inverse mass, and to what the pair shares.
  void (*law_vjp)(const smooth_coulomb::Settings&, double compliance, double dissipation_time,
                  std::span<const RowBlock>, std::span<RowBarBlock>, PairLawBar&);

  [[nodiscard]] static RowKernels base();
  [[nodiscard]] static RowKernels avx2();
  [[nodiscard]] static RowKernels avx512();
};

}  // namespace abut
