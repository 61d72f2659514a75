#include "dynamics/step/joint_impulse_tangent.h"

#include <numeric>
#include <vector>

namespace abut {

void JointImpulseTangent::add(const GrowableVector& v, GrowableVector& out) const {
  JointRows single;
  GrowableVector w = GrowableVector::Zero(v.size());
  for (const JointGroup& group : joints_.groups) {
    single.clear();
    single.append(joints_, group);
    for (const int slot : joints_.slots_of(group)) {
      if (slot < 0) continue;
      for (int i = 6 * slot; i < 6 * slot + 6; ++i) {
        w[i] = 1.0;
        out[i] += slope(single, v, w);
        w[i] = 0.0;
      }
    }
  }
}

double JointImpulseTangent::slope(const JointRows& rows, const GrowableVector& v,
                                  const GrowableVector& w) const {
  const auto slots = static_cast<std::size_t>(mass_.slot_count());
  JointRowBars bars;
  bars.reset(rows);
  rows.vjp(v, w, bars);
  double sum = 0.0;
  if (v_borne_ != nullptr) {
    GrowableVector v_bar = GrowableVector::Zero(v.size());
    rows.borne_vjp(*v_borne_, bars, v_bar);
    sum += v_bar.dot(*v_borne_dot_);
  }
  StateTangent state_bar(model_.body_count());
  std::vector<double> mass_bar(slots, 0.0);
  std::vector<Mat3<double>> inertia_bar(slots, Mat3<double>::Zero());
  std::vector<JointGradient> unused(model_.joints.size()), unused_couplings(model_.couplings.size());
  std::vector<double> command_bar(direction_.command.size());
  GrowableVector v_start_bar = GrowableVector::Zero(v.size()), v_free_bar = v_start_bar;
  joint_rows_vjp(model_, mass_, state_, settings_, rows, bars,
                 {state_bar.pose, state_bar.twist, mass_bar, inertia_bar, unused, unused_couplings,
                  &v_start_bar, &v_free_bar, command_bar},
                 &free_);
  sum += std::inner_product(command_bar.begin(), command_bar.end(), direction_.command.begin(), 0.0);
  sum += v_start_bar.dot(problem_dot_.v_start) + v_free_bar.dot(problem_dot_.v_free);
  const StateTangent& state_dot = *direction_.state;
  for (std::size_t b = 0; b < state_bar.pose.size(); ++b)
    sum += state_bar.pose[b].dot(state_dot.pose[b]) + state_bar.twist[b].dot(state_dot.twist[b]);
  for (std::size_t s = 0; s < slots; ++s)
    sum += mass_bar[s] * problem_dot_.mass[s] + inertia_bar[s].cwiseProduct(problem_dot_.inertia_W[s]).sum();
  return sum;
}

}  // namespace abut
