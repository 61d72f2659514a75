#include "apps/viewer/simulation/joint_force.h"

#include "dynamics/rows/joint_constraints.h"
#include "dynamics/rows/joint_geometry.h"

namespace abut::viewer {

std::vector<JointForce> joint_forces(const Stepper& stepper, const State& state, const StepRecord& record) {
  const Model& model = stepper.model();
  std::vector<JointForce> forces(model.joints.size());
  if (model.joints.empty()) return forces;
  MassMatrix mass;
  JointRows joints;
  std::vector<double> impulses;
  const State* start = &state;
  for (const SubstepRecord& part : record.substeps) {
    mass.update(model, *start);
    make_joint_rows(model, mass, *start, stepper.joint_settings(), joints);
    joints.impulses(part.velocity, impulses);
    for (const JointGroup& group : joints.groups) {
      Vec6<double> wrench = Vec6<double>::Zero();  // about the centre of mass of B
      for (int i = group.begin; i < group.end; ++i)
        wrench += impulses[static_cast<std::size_t>(i)] / stepper.config().h *
                  joints.rows[static_cast<std::size_t>(i)].J_B;
      const JointFrames frames = joint_frames(model.joints[static_cast<std::size_t>(group.joint)], *start);
      JointForce& force = forces[static_cast<std::size_t>(group.joint)];
      const Vec3<double> push = wrench.tail<3>();
      force.force_B_W += push;
      force.torque_B_W += wrench.head<3>() - (frames.X_WJB.p - frames.X_WB.p).cross(push);
    }
    start = &part.end;
  }
  return forces;
}

}  // namespace abut::viewer
