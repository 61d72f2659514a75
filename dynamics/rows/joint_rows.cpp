#include "dynamics/rows/joint_rows.h"

#include <cmath>

#include "dynamics/contact_laws/smooth_coulomb.h"

namespace abut {
namespace {

struct JointImpulse {
  double value;             ///< lambda
  double d_velocity;        ///< by s, <= 0; by the target -d_velocity, or 1 of a load
  double d_resistance = 0;  ///< by R
  double d_limit = 0;       ///< by L
};

JointImpulse impulse_of(const JointRow& row, double stop_smoothing, double s) {
  if (row.law == JointLaw::load) return {row.target, 0.0};
  const double x = row.target - s, R = row.resistance;
  if (row.law == JointLaw::stop) {
    const auto gamma = smooth_coulomb::normal_impulse(s, row.target, 1.0 / R, stop_smoothing);
    return {gamma.value, gamma.d_velocity, -gamma.value / R, 0.0};
  }
  if (row.law == JointLaw::hold || std::isinf(row.limit)) return {x / R, -1.0 / R, -x / (R * R), 0.0};
  // With z = x/(R L), root = sqrt(1 + z^2), in a form that does not overflow:  y/sqrt(1 + (y/L)^2) = L
  // z/root.
  const double z = x / (R * row.limit), root = std::hypot(1.0, z), sine = z / root;
  const double slope = 1.0 / (R * root * root * root);
  return {row.limit * sine, -slope, -slope * x / R, sine * sine * sine};
}

double d_target(const JointRow& row, const JointImpulse& lambda) {
  return row.law == JointLaw::load ? 1.0 : -lambda.d_velocity;
}

double velocity_of(const JointGroup& group, const JointRow& row, const GrowableVector& v) {
  double s = 0.0;
  if (group.slot_A >= 0) s += row.J_A.dot(v.segment<6>(6 * group.slot_A));
  if (group.slot_B >= 0) s += row.J_B.dot(v.segment<6>(6 * group.slot_B));
  return s;
}

}  // namespace

void JointRows::clear() {
  rows.clear();
  groups.clear();
}

void JointRows::append(const JointRows& whole, const JointGroup& group, int slot_A, int slot_B) {
  stop_smoothing = whole.stop_smoothing;
  const int begin = static_cast<int>(rows.size());
  rows.insert(rows.end(), whole.rows.begin() + group.begin, whole.rows.begin() + group.end);
  JointGroup& own = groups.emplace_back(group);
  own.slot_A = slot_A;
  own.slot_B = slot_B;
  own.begin = begin;
  own.end = static_cast<int>(rows.size());
}

void JointRows::add_gradient(const GrowableVector& v, GrowableVector& gradient) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      const double lambda =
          impulse_of(row, stop_smoothing, row.drift + velocity_of(group, row, v)).value - row.borne;
      if (group.slot_A >= 0) gradient.segment<6>(6 * group.slot_A) -= lambda * row.J_A;
      if (group.slot_B >= 0) gradient.segment<6>(6 * group.slot_B) -= lambda * row.J_B;
    }
  }
}

void JointRows::add_gradient_sizes(const GrowableVector& v, GrowableVector& sizes) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      const double k = -impulse_of(row, stop_smoothing, row.drift + velocity_of(group, row, v)).d_velocity;
      const bool is_load = row.law == JointLaw::load;
      double speed = std::abs(row.drift) + (is_load ? 0.0 : std::abs(row.target));
      if (group.slot_A >= 0) speed += row.J_A.cwiseAbs().dot(v.segment<6>(6 * group.slot_A).cwiseAbs());
      if (group.slot_B >= 0) speed += row.J_B.cwiseAbs().dot(v.segment<6>(6 * group.slot_B).cwiseAbs());
      const double impulse = is_load ? std::abs(row.target) : k * speed;
      if (group.slot_A >= 0) sizes.segment<6>(6 * group.slot_A) += impulse * row.J_A.cwiseAbs();
      if (group.slot_B >= 0) sizes.segment<6>(6 * group.slot_B) += impulse * row.J_B.cwiseAbs();
    }
  }
}

JointHessian JointRows::hessian(const JointGroup& group, const GrowableVector& v) const {
  JointHessian blocks;
  for (int i = group.begin; i < group.end; ++i) {
    const JointRow& row = rows[at(i)];
    const double s = row.drift + velocity_of(group, row, v);
    const double k = -impulse_of(row, stop_smoothing, s).d_velocity;
    const Vec6<double> kJ_A = k * row.J_A, kJ_B = k * row.J_B;
    if (group.slot_A >= 0) blocks.AA.noalias() += kJ_A * row.J_A.transpose();
    if (group.slot_B >= 0) blocks.BB.noalias() += kJ_B * row.J_B.transpose();
    if (group.both_move()) blocks.BA.noalias() += kJ_B * row.J_A.transpose();
  }
  return blocks;
}

void JointRows::add_line(const GrowableVector& v, const GrowableVector& dv, double a, double& slope,
                         double& curvature) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      const double ds = velocity_of(group, row, dv);
      const JointImpulse lambda =
          impulse_of(row, stop_smoothing, row.drift + velocity_of(group, row, v) + a * ds);
      slope -= (lambda.value - row.borne) * ds;
      curvature -= lambda.d_velocity * ds * ds;
    }
  }
}

void JointRows::impulses(const GrowableVector& v, std::vector<double>& impulses) const {
  impulses.resize(rows.size());
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      impulses[at(i)] =
          impulse_of(row, stop_smoothing, row.drift + velocity_of(group, row, v)).value - row.borne;
    }
  }
}

void JointRows::set_borne(const GrowableVector& v) {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      JointRow& row = rows[at(i)];
      row.borne = impulse_of(row, stop_smoothing, row.drift + velocity_of(group, row, v)).value;
    }
  }
}

void JointRows::borne_vjp(const GrowableVector& v, std::span<JointRowBar> bars, GrowableVector& v_bar) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      JointRowBar& bar = bars[at(i)];
      const JointImpulse lambda = impulse_of(row, stop_smoothing, row.drift + velocity_of(group, row, v));
      const double s_bar = bar.borne * lambda.d_velocity;
      const auto add = [&](int slot, const Vec6<double>& J, Vec6<double>& J_bar) {
        if (slot < 0) return;
        J_bar += s_bar * v.segment<6>(6 * slot);
        v_bar.segment<6>(6 * slot) += s_bar * J;
      };
      add(group.slot_A, row.J_A, bar.J_A);
      add(group.slot_B, row.J_B, bar.J_B);
      bar.drift += s_bar;
      bar.target += bar.borne * d_target(row, lambda);
      bar.resistance += bar.borne * lambda.d_resistance;
      bar.limit += bar.borne * lambda.d_limit;
      bar.borne = 0.0;
    }
  }
}

void JointRows::vjp(const GrowableVector& v, const GrowableVector& w, std::span<JointRowBar> bars) const {
  for (const JointGroup& group : groups) {
    for (int i = group.begin; i < group.end; ++i) {
      const JointRow& row = rows[at(i)];
      JointRowBar& bar = bars[at(i)];
      const double s_w = velocity_of(group, row, w);
      const JointImpulse lambda = impulse_of(row, stop_smoothing, row.drift + velocity_of(group, row, v));
      const double s_bar = s_w * lambda.d_velocity;
      const auto add = [&](int slot, Vec6<double>& J_bar) {
        if (slot >= 0)
          J_bar += (lambda.value - row.borne) * w.segment<6>(6 * slot) + s_bar * v.segment<6>(6 * slot);
      };
      add(group.slot_A, bar.J_A);
      add(group.slot_B, bar.J_B);
      bar.drift += s_bar;
      bar.target += s_w * d_target(row, lambda);
      bar.resistance += s_w * lambda.d_resistance;
      bar.limit += s_w * lambda.d_limit;
      bar.borne -= s_w;
    }
  }
}

}  // namespace abut
