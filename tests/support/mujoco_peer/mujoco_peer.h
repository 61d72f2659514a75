/// A scene in MuJoCo, for comparison. Without the library only mujoco_version() is declared.
#pragma once

#include <string>

#ifdef ABUT_HAVE_MUJOCO
#include <mujoco/mujoco.h>

#include <memory>
#include <span>
#include <vector>

#include "engine/model.h"
#include "engine/pose.h"
#include "engine/state.h"
#include "tests/support/mujoco_peer/mujoco_text.h"
#endif

namespace abut::test {

/// Version of the library that is linked, empty if there is none.
[[nodiscard]] std::string mujoco_version();

#ifdef ABUT_HAVE_MUJOCO

struct DeleteMujoco {
  void operator()(mjModel* model) const { mj_deleteModel(model); }
  void operator()(mjData* data) const { mj_deleteData(data); }
};

/// Loads a model from the text of an MJCF file. Throws std::invalid_argument with MuJoCo's message if it is not
/// accepted.
[[nodiscard]] std::unique_ptr<mjModel, DeleteMujoco> load_mujoco(const std::string& text);

/// A scene in MuJoCo: mujoco_text() of the model, its linear damping and external wrenches.
///
/// MuJoCo has no bodies of infinite mass that move and drag others along: a kinematic body has a free joint,
/// k_kinematic_mass_ratio times the mass of all others, and the wrench that its prescribed motion takes; its pose and
/// twist are set before every step.
class MujocoPeer {
 public:
  /// The model must outlive the peer. `initial` says where fixed bodies are and at which coordinates joints
  /// start. Throws std::invalid_argument for what is not translated or not accepted.
  MujocoPeer(const Model& model, double h, const State& initial, const MujocoSettings& settings = {});

  [[nodiscard]] const mjModel* model() const { return model_.get(); }
  [[nodiscard]] mjData* data() const { return data_.get(); }

  /// Poses of the bodies with a free joint; all others keep theirs.
  void set_poses(std::span<const Pose<double>> X_WB) const;
  /// Resets all to the start, then sets poses and twists. Bodies on joints start at the coordinates of `initial`.
  void reset(const State& state);
  void step();
  /// State of the bodies now; runs MuJoCo's kinematics.
  [[nodiscard]] State state() const;
  /// Whether MuJoCo has warned since reset(): a buffer was full, or a number was bad.
  [[nodiscard]] bool has_warned() const;

 private:
  void set_pose(int body, const Pose<double>& X_WB) const;  // of a body with a free joint
  void set_twists(const State& state) const;
  void set_twist(int body, const Vec6<double>& V_WB) const;
  void prescribe(const State& next) const;

  const Model* model_of_bodies_;
  double h_;
  std::unique_ptr<mjModel, DeleteMujoco> model_;
  std::unique_ptr<mjData, DeleteMujoco> data_;
  std::vector<int> ids_;        // MuJoCo's numbers of the bodies
  std::vector<int> free_;       // bodies with a free joint, kinematic ones included
  std::vector<int> kinematic_;  // bodies of infinite mass that move
  State prescribed_;            // of bodies of infinite mass
};

#endif

}  // namespace abut::test
