/// What is measured: the scenes of the assets, and two armadillos in poses in which they overlap.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "collision/manifold/pair_manifold.h"
#include "engine/hash.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/scene_io.h"

namespace abut::benchmarks {

/// assets/scenes/<name>.toml of this source tree.
[[nodiscard]] Scene read_asset_scene(const std::string& name);

/// 100 boxes of 0.1 m (`asset` box), turned at random, above a bin of 0.5 m by 0.5 m made of five
/// half-spaces.
[[nodiscard]] Scene box_pile();

/// The bundled box_stack, whose boxes touch with their eight corners and twelve edges alone.
[[nodiscard]] Scene box_stack_of_corners();

/// Two armadillos, one upside down on the other, in a bin of half-spaces that is narrower than both beside
/// each other.
[[nodiscard]] Scene interlocked_armadillos();

/// A scene of the assets, or one of those above by its name.
[[nodiscard]] Scene read_benchmark_scene(const std::string& name);

struct PoseSet {
  Model model;                 ///< the two bodies
  std::vector<PosePair> X_WB;  ///< of both, in each of the poses
};

/// Two armadillos and 100 random poses in which a contact point of one lies inside the other: rotations
/// uniform, the centres of mass 0.25 to 0.75 of the size apart in a uniform direction. The same on every
/// machine.
[[nodiscard]] const PoseSet& colliding_armadillos();

/// The middle of a set of numbers; 0 of none.
[[nodiscard]] double median(std::vector<double> values);

/// Over the bits of numbers: tells whether two runs computed the same thing.
class Hash {
 public:
  void add(double x) { hash_ = hash_of(x, hash_); }
  [[nodiscard]] std::string text() const;
  [[nodiscard]] static std::string text(std::uint64_t hash);

 private:
  std::uint64_t hash_ = k_hash_of_nothing;
};

}  // namespace abut::benchmarks
