/// The same scenes in MuJoCo, for comparison; without the library there is none of this but mujoco_version().
#pragma once

#include <string>

#ifdef ABUT_HAVE_MUJOCO
#include <mujoco/mujoco.h>

#include <memory>
#include <span>
#include <vector>

#include "engine/config.h"
#include "engine/model.h"
#include "engine/pose.h"
#include "engine/state.h"
#endif

namespace abut::benchmarks {

/// Version of the library that is linked, empty if there is none.
[[nodiscard]] std::string mujoco_version();

#ifdef ABUT_HAVE_MUJOCO

/// A model of ours as MuJoCo sees it.
///
/// Mass, inertia, friction, gravity and time step are those of the model; half-spaces, spheres, capsules and
/// boxes are MuJoCo's own (the edges of boxes not rounded). A superquadric is the convex hull of 30 points of
/// its surface; of a body with more than 18 of them, the smallest are left out. The rest of MuJoCo's settings
/// are its defaults.
class MujocoPeer {
 public:
  /// `initial` says where the fixed bodies are. Throws std::runtime_error with MuJoCo's message if it does
  /// not accept the model.
  MujocoPeer(const Model& model, const StepConfig& config, const State& initial);

  [[nodiscard]] const mjModel* model() const { return model_.get(); }
  [[nodiscard]] mjData* data() const { return data_.get(); }

  /// Poses of all bodies; the fixed ones stay where they are.
  void set_poses(std::span<const Pose<double>> X_WB) const;
  /// Everything back to the start, then poses and twists.
  void reset(const State& state) const;
  /// Whether MuJoCo has warned since reset(): a buffer was full, or a number was bad.
  [[nodiscard]] bool has_warned() const;

 private:
  struct Delete {
    void operator()(mjModel* model) const { mj_deleteModel(model); }
    void operator()(mjData* data) const { mj_deleteData(data); }
  };
  std::unique_ptr<mjModel, Delete> model_;
  std::unique_ptr<mjData, Delete> data_;
  std::vector<int> moving_;  // bodies with a free joint, in the order of qpos
};

#endif

}  // namespace abut::benchmarks
