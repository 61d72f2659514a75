#include "tests/support/mujoco_peer/mujoco_peer.h"

#ifdef ABUT_HAVE_MUJOCO

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Dense>

#include "dynamics/motion/fixed_motion.h"

namespace abut::test {

std::string mujoco_version() { return mj_versionString(); }

std::unique_ptr<mjModel, DeleteMujoco> load_mujoco(const std::string& text) {
  static std::mutex mutex;  // the parser is not said to be safe for threads
  const std::scoped_lock lock(mutex);
  mju_user_warning = [](const char*) {};  // they are counted (has_warned()); MuJoCo would write a file
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  mj_makeEmptyFileVFS(files.get(), "model.xml", static_cast<int>(text.size()));
  std::memcpy(files->filedata[0], text.data(), text.size());
  std::array<char, 1000> error{};
  std::unique_ptr<mjModel, DeleteMujoco> model(
      mj_loadXML("model.xml", files.get(), error.data(), static_cast<int>(error.size())));
  mj_deleteVFS(files.get());
  if (!model) throw std::invalid_argument(fmt::format("MuJoCo does not load the model: {}", error.data()));
  return model;
}

MujocoPeer::MujocoPeer(const Model& model, double h, const State& initial, const MujocoSettings& settings)
    : model_of_bodies_(&model),
      h_(h),
      model_(load_mujoco(mujoco_text(model, h, initial, settings))),
      data_(mj_makeData(model_.get())),
      prescribed_(initial) {
  double inertia = 0.0;
  int inertias = 0;
  for (int b = 0; b < model.body_count(); ++b) {
    const Body& body = model.bodies[static_cast<std::size_t>(b)];
    const int id = mj_name2id(model_.get(), mjOBJ_BODY, mujoco_body_name(b).c_str());
    ids_.push_back(id);
    const int dofs = model_->body_dofnum[id], first = model_->body_dofadr[id];
    const bool is_free = dofs == 6 && model_->jnt_type[model_->body_jntadr[id]] == mjJNT_FREE;
    if (is_free) free_.push_back(b);
    if (is_kinematic(body, initial.V_WB[static_cast<std::size_t>(b)])) {
      kinematic_.push_back(b);
      continue;
    }
    for (int i = 0; i < dofs; ++i, ++inertias) inertia += model_->dof_M0[first + i];
    if (body.linear_damping == 0.0 || body.fixed) continue;
    if (!is_free) throw std::invalid_argument(body.name + ": MuJoCo damps joints, not a body on one");
    for (int i = 0; i < 3; ++i) model_->dof_damping[first + i] = body.mass * body.linear_damping;
  }
  // The scale of MuJoCo's tolerances must not be that of the heavy bodies that stand for kinematic ones.
  if (inertias > 0) model_->stat.meaninertia = inertia / inertias;
}

void MujocoPeer::set_pose(int body, const Pose<double>& X_WB) const {
  mjtNum* q = data_->qpos + model_->jnt_qposadr[model_->body_jntadr[ids_[static_cast<std::size_t>(body)]]];
  for (const double x : {X_WB.p.x(), X_WB.p.y(), X_WB.p.z(), X_WB.q.w(), X_WB.q.x(), X_WB.q.y(), X_WB.q.z()})
    *q++ = x;
}

void MujocoPeer::set_poses(std::span<const Pose<double>> X_WB) const {
  for (const int body : free_) set_pose(body, X_WB[static_cast<std::size_t>(body)]);
}

void MujocoPeer::set_twists(const State& state) const {
  mj_kinematics(model_.get(), data_.get());
  mj_comPos(model_.get(), data_.get());
  std::vector<int> order(ids_.size());  // parents first: MuJoCo numbers them so
  for (std::size_t b = 0; b < ids_.size(); ++b) order[b] = static_cast<int>(b);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return ids_[static_cast<std::size_t>(a)] < ids_[static_cast<std::size_t>(b)];
  });
  for (const int b : order) set_twist(b, state.V_WB[static_cast<std::size_t>(b)]);
}

/// The velocities of a body's own degrees of freedom from its twist and those of the bodies that carry it.
void MujocoPeer::set_twist(int body, const Vec6<double>& V_WB) const {
  const int id = ids_[static_cast<std::size_t>(body)], dofs = model_->body_dofnum[id], nv = model_->nv;
  if (dofs == 0) return;
  Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> J(6, nv);  // [rotation; translation]
  mj_jacBody(model_.get(), data_.get(), J.data() + 3 * nv, J.data(), id);
  const int first = model_->body_dofadr[id];
  Eigen::Map<Eigen::VectorXd> velocity(data_->qvel, nv);
  velocity.segment(first, dofs).setZero();
  const Eigen::VectorXd own = V_WB - J * velocity;
  velocity.segment(first, dofs) = J.middleCols(first, dofs).colPivHouseholderQr().solve(own);
}

void MujocoPeer::reset(const State& state) {
  mj_resetData(model_.get(), data_.get());
  set_poses(state.X_WB);
  set_twists(state);
  prescribed_ = state;
  for (std::size_t b = 0; b < ids_.size(); ++b) {
    const Vec6<double>& wrench = model_of_bodies_->bodies[b].external_wrench;
    for (int i = 0; i < 6; ++i) data_->xfrc_applied[6 * ids_[b] + i] = wrench[(i + 3) % 6];  // force first
  }
}

/// Before a step: prescribed pose and twist of kinematic bodies, and the wrench that takes them to `next`.
void MujocoPeer::prescribe(const State& next) const {
  if (kinematic_.empty()) return;
  for (const int body : kinematic_) set_pose(body, prescribed_.X_WB[static_cast<std::size_t>(body)]);
  mj_kinematics(model_.get(), data_.get());
  mj_comPos(model_.get(), data_.get());
  for (const int body : kinematic_) {
    const auto b = static_cast<std::size_t>(body);
    set_twist(body, prescribed_.V_WB[b]);
    const Vec6<double> acceleration = (next.V_WB[b] - prescribed_.V_WB[b]) / h_;
    const mjtNum* inertia = model_->body_inertia + 3 * ids_[b];  // isotropic
    const double mass = model_->body_mass[ids_[b]];
    for (int i = 0; i < 3; ++i) {
      data_->xfrc_applied[6 * ids_[b] + i] = mass * (acceleration[3 + i] - model_of_bodies_->gravity[i]);
      data_->xfrc_applied[6 * ids_[b] + 3 + i] = inertia[i] * acceleration[i];
    }
  }
}

void MujocoPeer::step() {
  State next = prescribed_;
  for (const int body : kinematic_) {
    const auto b = static_cast<std::size_t>(body);
    const Vec6<double> displacement = h_ * fixed_twist(*model_of_bodies_, prescribed_, h_, body);
    next.X_WB[b] = retract(prescribed_.X_WB[b], displacement).normalized();
    next.V_WB[b] = fixed_twist_at_end(*model_of_bodies_, prescribed_, h_, body);
  }
  next.time += h_;
  prescribe(next);
  mj_step(model_.get(), data_.get());
  prescribed_ = std::move(next);
}

State MujocoPeer::state() const {
  mj_kinematics(model_.get(), data_.get());
  mj_comPos(model_.get(), data_.get());
  mj_comVel(model_.get(), data_.get());
  State state = prescribed_;
  for (std::size_t b = 0; b < ids_.size(); ++b) {
    if (model_of_bodies_->bodies[b].fixed) continue;
    const int id = ids_[b];
    const mjtNum *p = data_->xpos + 3 * id, *q = data_->xquat + 4 * id;
    state.X_WB[b] = {Eigen::Quaterniond(q[0], q[1], q[2], q[3]), {p[0], p[1], p[2]}};
    mj_objectVelocity(model_.get(), data_.get(), mjOBJ_XBODY, id, state.V_WB[b].data(), 0);
  }
  return state;
}

bool MujocoPeer::has_warned() const {
  return std::any_of(std::begin(data_->warning), std::end(data_->warning),
                     [](const mjWarningStat& warning) { return warning.number > 0; });
}

}  // namespace abut::test

#else

namespace abut::test {

std::string mujoco_version() { return {}; }

}  // namespace abut::test

#endif
