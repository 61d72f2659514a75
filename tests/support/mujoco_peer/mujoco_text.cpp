#include "tests/support/mujoco_peer/mujoco_text.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <Eigen/Eigenvalues>

#include "dynamics/rows/contact_rows.h"
#include "engine/joint_geometry.h"

namespace abut::test {

namespace {

constexpr double k_plane_box = 6.0;  // half extent of the box for a half-space that moves, in sizes of bodies
constexpr double k_no_limit = 1e10;  // of a coordinate: MuJoCo reads no infinity

[[noreturn]] void refuse(const std::string& what) {
  throw std::invalid_argument("not translated for MuJoCo: " + what);
}

/// The text of a scene, body by body along the tree of joints.
class SceneText {
 public:
  SceneText(const Model& model, double h, const State& state, const MujocoSettings& settings)
      : model_(model), h_(h), state_(state), geoms_(settings.shapes) {
    children_.resize(model.bodies.size() + 1);
    joint_of_.assign(model.bodies.size(), nullptr);
    geom_counts_.assign(model.bodies.size(), 0);
    for (const Body& body : model.bodies) {
      require_translated(body);
      if (std::isfinite(body.size)) size_ = std::max(size_, body.size);
      if (!body.fixed) moving_mass_ += body.mass;
    }
    for (const Joint& joint : model.joints) add_joint(joint);
    for (int b = 0; b < model.body_count(); ++b) {
      if (!joint_of_[index(b)]) children_[0].push_back(b);
    }
    for (const int b : children_[0]) add_body(b, {});
    if (written_ != model.body_count()) refuse("joints in a ring");
    for (int a = 0; a < model.body_count(); ++a) {
      for (int b = a + 1; b < model.body_count(); ++b) add_pair(a, b);
    }
    const int most_contacts = 30 + 20 * std::accumulate(geom_counts_.begin(), geom_counts_.end(), 0);
    text_ = fmt::format(
        "<mujoco>\n<compiler angle=\"radian\"/>\n"
        "<option timestep=\"{}\" gravity=\"{}\" collision=\"{}\" {}><flag filterparent=\"disable\" "
        "{}/></option>\n"
        "<size njmax=\"{}\" nconmax=\"{}\"/>\n<asset>\n{}</asset>\n"
        "<worldbody>\n{}</worldbody>\n<contact>\n{}</contact>\n<tendon>\n{}</tendon>\n"
        "<equality>\n{}</equality>\n</mujoco>\n",
        h, vector_text(model.gravity), has_own_friction_ ? "predefined" : "all", settings.option,
        settings.flag, 4 * most_contacts, most_contacts, geoms_.meshes(), bodies_,
        has_own_friction_ ? pairs_ : excluded_, tendons_, equalities_);
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  static std::size_t index(int body) { return static_cast<std::size_t>(body); }
  [[nodiscard]] const Body& body(int b) const { return model_.bodies[index(b)]; }
  [[nodiscard]] bool is_kinematic(int b) const { return test::is_kinematic(body(b), state_.V_WB[index(b)]); }

  static void require_translated(const Body& body) {
    if (body.material.restitution > 0.0) refuse(body.name + " rebounds, and MuJoCo has no restitution");
    if (std::isfinite(body.material.stiffness)) refuse(body.name + " has a compliance");
    if (body.angular_damping != 0.0) refuse(body.name + " has angular damping");
    if (body.oscillation.rotation_amplitude != Vec3<double>::Zero())
      refuse(body.name + " is shaken about an axis");
  }

  void add_joint(const Joint& joint) {
    const bool has_motor = joint.motor.kind != MotorKind::none;
    const bool is_spring = joint.kind == JointKind::ball && std::isfinite(joint.stiffness);
    if (std::isfinite(joint.angular_stiffness) || (std::isfinite(joint.stiffness) && !is_spring))
      refuse(joint.name + " gives way, and is not a ball joint");
    if (has_motor && (joint.motor.kind != MotorKind::position || std::isfinite(joint.motor.limit)))
      refuse(joint.name + " has a motor of infinite gain or of limited force");
    if (has_motor && joint.spring_stiffness > 0.0) refuse(joint.name + " has a motor and a spring");
    if (joint.body_B < 0 || body(joint.body_B).fixed) refuse(joint.name + " has a body B that does not move");
    if (joint.kind == JointKind::distance) return add_thread(joint);
    if (joint_of_[index(joint.body_B)]) refuse(joint.name + " closes a chain");
    joint_of_[index(joint.body_B)] = &joint;
    children_[index(joint.body_A + 1)].push_back(joint.body_B);
  }

  /// A tendon of constant length between two sites.
  void add_thread(const Joint& joint) {
    const std::string ends[] = {fmt::format("{}_A", threads_.size()), fmt::format("{}_B", threads_.size())};
    threads_.push_back(&joint);
    const Pose<double> X_WA = joint.body_A < 0 ? Pose<double>() : state_.X_WB[index(joint.body_A)];
    const double length = (X_WA * joint.X_AJ.p - state_.X_WB[index(joint.body_B)] * joint.X_BJ.p).norm();
    const std::string name = fmt::format("thread{}", threads_.size());
    tendons_ += fmt::format("<spatial name=\"{}\"><site site=\"{}\"/><site site=\"{}\"/></spatial>\n", name,
                            ends[0], ends[1]);
    equalities_ +=
        fmt::format("<tendon tendon1=\"{}\" polycoef=\"{} 0 0 0 0\"/>\n", name, joint.length - length);
    if (joint.body_A < 0) bodies_ += site_text(ends[0], joint.X_AJ);
  }
  static std::string site_text(const std::string& name, const Pose<double>& X) {
    return fmt::format("<site name=\"{}\" {}/>\n", name, pose_text(X));
  }

  void add_body(int b, const Pose<double>& X_WP) {
    ++written_;
    const Pose<double>& X_WB = state_.X_WB[index(b)];
    bodies_ += fmt::format("<body name=\"{}\" {}>\n", mujoco_body_name(b), pose_text(X_WP.inverse() * X_WB));
    if (const Joint* const joint = joint_of_[index(b)])
      bodies_ += joint_text(*joint);
    else if (!body(b).fixed || is_kinematic(b))
      bodies_ += "<freejoint/>\n";
    if (is_kinematic(b))
      bodies_ +=
          inertial_text(k_kinematic_mass_ratio * moving_mass_,
                        k_kinematic_mass_ratio * moving_mass_ * size_ * size_ * Mat3<double>::Identity());
    else if (!body(b).fixed)
      bodies_ += inertial_text(body(b).mass, body(b).inertia);
    const double mu = body(b).material.friction;
    for (const std::string& geom : geoms_.of(body(b), is_kinematic(b) ? k_plane_box * size_ : 0.0))
      bodies_ += fmt::format("<geom name=\"{}\" {} friction=\"{}\" condim=\"{}\"/>\n",
                             geom_name(b, geom_counts_[index(b)]++), geom, mu, mu > 0.0 ? 3 : 1);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (threads_[i]->body_A == b) bodies_ += site_text(fmt::format("{}_A", i), threads_[i]->X_AJ);
      if (threads_[i]->body_B == b) bodies_ += site_text(fmt::format("{}_B", i), threads_[i]->X_BJ);
    }
    for (const int child : children_[index(b + 1)]) add_body(child, X_WB);
    bodies_ += "</body>\n";
  }
  static std::string geom_name(int body, int geom) {
    return fmt::format("{}_{}", mujoco_body_name(body), geom);
  }
  static std::string inertial_text(double mass, const Mat3<double>& I) {
    const Eigen::SelfAdjointEigenSolver<Mat3<double>> axes(I);  // to rounding; MuJoCo's own is to 1e-6
    Mat3<double> R = axes.eigenvectors();
    if (R.determinant() < 0.0) R.col(0) *= -1.0;
    return fmt::format("<inertial {} mass=\"{}\" diaginertia=\"{}\"/>\n",
                       pose_text({Eigen::Quaterniond(R), Vec3<double>::Zero()}), mass,
                       vector_text(axes.eigenvalues()));
  }

  /// In the frame of body B; the coordinate of the initial state is that of MuJoCo's `ref`.
  [[nodiscard]] std::string joint_text(const Joint& joint) const {
    const std::string at = vector_text(joint.X_BJ.p);
    switch (joint.kind) {
      case JointKind::fixed:
        return "";
      case JointKind::ball:
        return spring_text(joint) + fmt::format("<joint type=\"ball\" pos=\"{}\"/>\n", at);
      case JointKind::hinge:
      case JointKind::slider:
        break;
      case JointKind::distance:
        refuse(joint.name);
    }
    std::string more;
    if (std::isfinite(joint.lower) || std::isfinite(joint.upper))
      more += fmt::format(" limited=\"true\" range=\"{} {}\"", std::max(joint.lower, -k_no_limit),
                          std::min(joint.upper, k_no_limit));
    const bool has_motor = joint.motor.kind == MotorKind::position;
    if (has_motor || joint.spring_stiffness > 0.0) {
      more += fmt::format(" stiffness=\"{}\" springref=\"{}\"",
                          has_motor ? joint.motor.stiffness : joint.spring_stiffness,
                          has_motor ? joint.motor.target : joint.spring_position);
    }
    if (const double damping = joint.damping + (has_motor ? joint.motor.damping : 0.0); damping > 0.0)
      more += fmt::format(" damping=\"{}\"", damping);
    if (joint.friction > 0.0) more += fmt::format(" frictionloss=\"{}\"", joint.friction);
    if (joint.armature > 0.0) more += fmt::format(" armature=\"{}\"", joint.armature);
    return fmt::format("<joint type=\"{}\" pos=\"{}\" axis=\"{}\" ref=\"{}\"{}/>\n",
                       joint.kind == JointKind::hinge ? "hinge" : "slide", at,
                       vector_text(joint.X_BJ.q * Vec3<double>(0, 0, 1)),
                       joint_coordinate(model_, static_cast<int>(&joint - model_.joints.data()), state_),
                       more);
  }

  /// A ball joint that gives way: three sliders along the axes of JA with a spring each, below the ball.
  [[nodiscard]] std::string spring_text(const Joint& joint) const {
    if (!std::isfinite(joint.stiffness)) return "";
    const Pose<double> X_WA = joint.body_A < 0 ? Pose<double>() : state_.X_WB[index(joint.body_A)];
    const Pose<double> X_WJ = X_WA * joint.X_AJ, X_WB = state_.X_WB[index(joint.body_B)];
    const Vec3<double> d = inverse_point(X_WJ, X_WB * joint.X_BJ.p);
    const double tau = joint.dissipation_time < 0.0 ? h_ : joint.dissipation_time;
    std::string text;
    for (int i = 0; i < 3; ++i)
      text += fmt::format("<joint type=\"slide\" axis=\"{}\" ref=\"{}\" stiffness=\"{}\" damping=\"{}\"/>\n",
                          vector_text(X_WB.q.conjugate() * (X_WJ.q * Vec3<double>(Vec3<double>::Unit(i)))),
                          d[i], joint.stiffness, tau * joint.stiffness);
    return text;
  }

  /// MuJoCo gives a contact the larger friction of its two geoms. Where a pair has another, all pairs are written
  /// out in place of MuJoCo's own choice of them.
  void add_pair(int a, int b) {
    if (body(a).fixed && body(b).fixed) {
      if (is_kinematic(a) || is_kinematic(b)) exclude(a, b);
      return;
    }
    const auto joint = std::find_if(model_.joints.begin(), model_.joints.end(), [&](const Joint& j) {
      return !j.collide && std::minmax(j.body_A, j.body_B) == std::minmax(a, b);
    });
    const auto set =
        std::find_if(model_.pair_overrides.begin(), model_.pair_overrides.end(),
                     [&](const PairOverride& pair) { return pair.body_A == a && pair.body_B == b; });
    const bool is_separate = set != model_.pair_overrides.end() && !set->collide;
    if (joint != model_.joints.end() || is_separate) return exclude(a, b);
    const PairMaterial material = pair_material(model_, a, b, 0.0);
    if (material.restitution > 0.0 || material.compliance > 0.0)
      refuse(fmt::format("the pair of {} and {} rebounds or has a compliance", body(a).name, body(b).name));
    const double mu = material.friction;
    has_own_friction_ |= mu != std::max(body(a).material.friction, body(b).material.friction);
    for (int i = 0; i < geom_counts_[index(a)]; ++i) {
      for (int j = 0; j < geom_counts_[index(b)]; ++j)
        pairs_ += fmt::format("<pair geom1=\"{}\" geom2=\"{}\" friction=\"{} {}\" condim=\"{}\"/>\n",
                              geom_name(a, i), geom_name(b, j), mu, mu, mu > 0.0 ? 3 : 1);
    }
  }
  void exclude(int a, int b) {
    excluded_ +=
        fmt::format("<exclude body1=\"{}\" body2=\"{}\"/>\n", mujoco_body_name(a), mujoco_body_name(b));
  }

  const Model& model_;
  double h_;
  const State& state_;
  MujocoGeoms geoms_;
  std::vector<std::vector<int>> children_;  // of the world, then of each body
  std::vector<const Joint*> joint_of_;      // of each body, null if it is free or fixed
  std::vector<const Joint*> threads_;
  std::vector<int> geom_counts_;
  double size_ = 0.0, moving_mass_ = 0.0;
  int written_ = 0;
  bool has_own_friction_ = false;  // a pair has a friction that is not the larger one of its bodies
  std::string bodies_, pairs_, excluded_, tendons_, equalities_, text_;
};

}  // namespace

bool is_kinematic(const Body& body, const Vec6<double>& V_WB) {
  return body.fixed && (body.oscillation.frequency != 0.0 || V_WB != Vec6<double>::Zero());
}

std::string mujoco_body_name(int body) { return fmt::format("body{}", body); }

std::string mujoco_text(const Model& model, double h, const State& state, const MujocoSettings& settings) {
  return SceneText(model, h, state, settings).text();
}

}  // namespace abut::test
