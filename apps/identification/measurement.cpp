#include "apps/identification/measurement.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "engine/lie.h"
#include "engine/state_view.h"

namespace abut {
namespace {

using ResidualRows = MeasurementResidual::Rows;

/// What a measurement is evaluated with.
struct View {
  const Model& model;
  std::span<const ShapeSdf* const> sdfs;
  const State& state;
};

MeasurementResidual residual_of(const View& view, const MeasuredPose& measured) {
  MeasurementResidual out;
  const std::vector<int> components = measured.components();
  const auto positions = static_cast<Eigen::Index>(components.size());
  const Eigen::Index count = positions + (measured.q_WA ? 3 : 0);
  const Pose<double>& X_WB = view.state.X_WB[at(measured.body)];
  const Vec3<double> arm = X_WB.q * view.model.bodies[at(measured.body)].p_BA;
  out.residual.resize(count);
  ResidualRows by_pose = ResidualRows::Zero(count, 6);
  const Vec3<double> off = (X_WB.p + arm - measured.p_WA) / measured.position_noise;
  const Mat3<double> by_turn = -skew(arm) / measured.position_noise;
  const Mat3<double> R = X_WB.rotation();
  for (Eigen::Index row = 0; row < positions; ++row) {
    const int i = components[static_cast<std::size_t>(row)];
    out.residual[row] = off[i];
    by_pose.row(row).head<3>() = by_turn.row(i);
    by_pose(row, 3 + i) = 1.0 / measured.position_noise;
    out.geometry.push_back(
        {static_cast<int>(row), measured.body, R.row(i).transpose() / measured.position_noise, {}});
  }
  if (measured.q_WA) {
    const Vec3<double> turn = log_quaternion(Quat<double>(X_WB.q * measured.q_WA->conjugate()));
    out.residual.tail<3>() = turn / measured.rotation_noise;
    by_pose.bottomLeftCorner<3, 3>() = left_jacobian_inverse_so3(turn) / measured.rotation_noise;
  }
  out.bodies.push_back({measured.body, by_pose, ResidualRows(0, 6)});
  return out;
}

MeasurementResidual residual_of(const View& view, const MeasuredTwist& measured) {
  MeasurementResidual out;
  Vec6<double> weight;
  weight.head<3>().setConstant(1.0 / measured.angular_noise);
  weight.tail<3>().setConstant(1.0 / measured.linear_noise);
  out.residual = weight.cwiseProduct(view.state.V_WB[at(measured.body)] - measured.V_WB);
  out.bodies.push_back({measured.body, ResidualRows(0, 6), ResidualRows(weight.asDiagonal())});
  return out;
}

MeasurementResidual residual_of(const View& view, const MeasuredJoint& measured) {
  const Joint& joint = view.model.joints[at(measured.joint)];
  const int count = (measured.coordinate ? 1 : 0) + (measured.rate ? 1 : 0);
  MeasurementResidual out;
  out.residual.resize(count);
  for (const int body : {joint.body_A, joint.body_B}) {
    if (body < 0) continue;
    const StateView<StateDual> moved(view.state, body);
    MeasurementResidual::OfBody by{body, ResidualRows(count, 6), ResidualRows(count, 6)};
    Eigen::Index row = 0;
    const auto add = [&](const StateDual& number, double value, double noise) {
      out.residual[row] = (number.value - value) / noise;
      for (int i = 0; i < 6; ++i) {
        by.by_pose(row, i) = number.d[at(i)] / noise;
        by.by_twist(row, i) = number.d[at(6 + i)] / noise;
      }
      ++row;
    };
    if (measured.coordinate)
      add(moved.joint_coordinate(view.model, measured.joint), *measured.coordinate,
          measured.coordinate_noise);
    if (measured.rate) add(moved.joint_rate(view.model, measured.joint), *measured.rate, measured.rate_noise);
    out.bodies.push_back(std::move(by));
  }
  return out;
}

MeasurementResidual residual_of(const View& view, const SurfacePoints& measured) {
  MeasurementResidual out;
  const Pose<double>& X_WB = view.state.X_WB[at(measured.body)];
  const ShapeSdf& sdf = *view.sdfs[at(measured.body)];
  const auto primitives = view.model.bodies[at(measured.body)].shape.primitives.size();
  const Eigen::Index count = measured.p_W.cols();
  out.residual.resize(count);
  ResidualRows by_pose(count, 6);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Vec3<double> p_W = measured.p_W.col(i), p_B = inverse_point<double>(X_WB, p_W);
    const auto sample = sdf.evaluate<double>(p_B);
    out.residual[i] = sample.distance / measured.noise;
    by_pose.row(i) = inverse_point_vjp<double>(X_WB, p_W, sample.gradient / measured.noise).pose.transpose();
    GeometryDependence geometry{static_cast<int>(i), measured.body, Vec3<double>::Zero(), {}};
    geometry.primitives.resize(primitives);
    sdf.parameter_vjp(p_B, 1.0 / measured.noise, Vec3<double>::Zero(), geometry.primitives);
    out.geometry.push_back(std::move(geometry));
  }
  out.bodies.push_back({measured.body, by_pose, ResidualRows(0, 6)});
  return out;
}

/// A point of a body and the outward normal there.
struct SurfacePlace {
  Vec3<double> p_B, p_W, n_W;
  ResidualRows p_by_pose = ResidualRows::Zero(3, 6), n_by_pose = ResidualRows::Zero(3, 6);
};

SurfacePlace surface_place(const View& view, int body, const Vec3<double>& p_asset) {
  SurfacePlace place;
  const Pose<double>& X_WB = view.state.X_WB[at(body)];
  place.p_B = view.model.bodies[at(body)].p_BA + p_asset;
  place.p_W = X_WB * place.p_B;
  place.n_W = X_WB.q * view.sdfs[at(body)]->evaluate_normal<double>(place.p_B).normal;
  place.p_by_pose.leftCols<3>() = -skew(Vec3<double>(place.p_W - X_WB.p));
  place.p_by_pose.rightCols<3>().setIdentity();
  place.n_by_pose.leftCols<3>() = -skew(place.n_W);
  return place;
}

MeasurementResidual residual_of(const View& view, const ContactPlace& wanted) {
  MeasurementResidual out;
  const SurfacePlace A = surface_place(view, wanted.body_A, wanted.p_A),
                     B = surface_place(view, wanted.body_B, wanted.p_B);
  out.residual.resize(6);
  out.residual << (A.p_W - B.p_W) / wanted.position_noise, (A.n_W + B.n_W) / wanted.normal_noise;
  for (const auto& [body, place, sign] :
       {std::tuple{wanted.body_A, &A, 1.0}, std::tuple{wanted.body_B, &B, -1.0}}) {
    ResidualRows by_pose(6, 6);
    by_pose << sign * place->p_by_pose / wanted.position_noise, place->n_by_pose / wanted.normal_noise;
    out.bodies.push_back({body, by_pose, ResidualRows(0, 6)});
    const Mat3<double> R = view.state.X_WB[at(body)].rotation();
    const ShapeSdf& sdf = *view.sdfs[at(body)];
    const Mat3<double> normal_jacobian = sdf.evaluate_jacobian<double>(place->p_B).normal_jacobian;
    for (int i = 0; i < 3; ++i) {
      out.geometry.push_back({i, body, sign * R.row(i).transpose() / wanted.position_noise, {}});
      const Vec3<double> normal_bar = R.row(i).transpose() / wanted.normal_noise;
      GeometryDependence normal{3 + i, body, normal_jacobian.transpose() * normal_bar, {}};
      normal.primitives.resize(view.model.bodies[at(body)].shape.primitives.size());
      sdf.parameter_vjp(place->p_B, 0.0, normal_bar, normal.primitives);
      out.geometry.push_back(std::move(normal));
    }
  }
  return out;
}

MeasurementResidual residual_of(const View& view, const Clearance& wanted) {
  MeasurementResidual out;
  const auto count_of = [&](int body) { return view.model.bodies[at(body)].contact_points.cols(); };
  const Eigen::Index count = count_of(wanted.body_A) + count_of(wanted.body_B);
  out.residual = Eigen::VectorXd::Zero(count);
  ResidualRows by_A = ResidualRows::Zero(count, 6), by_B = ResidualRows::Zero(count, 6);
  Eigen::Index row = 0;
  const auto add = [&](int owner, int solid, ResidualRows& by_owner, ResidualRows& by_solid) {
    const Body& body = view.model.bodies[at(owner)];
    const Pose<double>&X_WO = view.state.X_WB[at(owner)], &X_WS = view.state.X_WB[at(solid)];
    for (Eigen::Index i = 0; i < body.contact_points.cols(); ++i, ++row) {
      const Vec3<double> p_O = body.contact_points.col(i), p_W = X_WO * p_O;
      const auto sample = view.sdfs[at(solid)]->evaluate<double>(inverse_point<double>(X_WS, p_W));
      const double depth = body.contact_radius - sample.distance;
      if (depth <= 0.0) continue;
      out.residual[row] = depth / wanted.noise;
      const auto of_solid = inverse_point_vjp<double>(X_WS, p_W, -sample.gradient / wanted.noise);
      by_solid.row(row) += of_solid.pose.transpose();
      by_owner.row(row) += point_vjp<double>(X_WO, p_O, of_solid.point).pose.transpose();
    }
  };
  add(wanted.body_A, wanted.body_B, by_A, by_B);
  add(wanted.body_B, wanted.body_A, by_B, by_A);
  out.bodies.push_back({wanted.body_A, by_A, ResidualRows(0, 6)});
  out.bodies.push_back({wanted.body_B, by_B, ResidualRows(0, 6)});
  return out;
}

}  // namespace

int body_of(const Measurement& measurement) {
  return std::visit(
      [](const auto& what) {
        if constexpr (requires { what.body; }) {
          return what.body;
        } else if constexpr (requires { what.joint; }) {
          return -1;
        } else {
          return what.body_A;
        }
      },
      measurement.what);
}

std::string subject_text(const Model& model, const Measurement& measurement) {
  if (const auto* joint = std::get_if<MeasuredJoint>(&measurement.what))
    return fmt::format("joint '{}'", model.joints[at(joint->joint)].name);
  return fmt::format("'{}'", model.bodies[at(body_of(measurement))].name);
}

int residual_count(const Model& model, const Measurement& measurement) {
  if (const auto* pose = std::get_if<MeasuredPose>(&measurement.what))
    return static_cast<int>(pose->components().size()) + (pose->q_WA ? 3 : 0);
  if (const auto* joint = std::get_if<MeasuredJoint>(&measurement.what))
    return (joint->coordinate ? 1 : 0) + (joint->rate ? 1 : 0);
  if (const auto* points = std::get_if<SurfacePoints>(&measurement.what))
    return static_cast<int>(points->p_W.cols());
  if (const auto* clearance = std::get_if<Clearance>(&measurement.what)) {
    return static_cast<int>(model.bodies[at(clearance->body_A)].contact_points.cols() +
                            model.bodies[at(clearance->body_B)].contact_points.cols());
  }
  return 6;
}

Moment moment_of(double time, double start_time, double time_step, int step_count) {
  if (step_count == 0) return {};
  const double place = (time - start_time) / time_step;
  const int step = std::clamp(static_cast<int>(std::floor(place)), 0, step_count - 1);
  return {step, step + 1, std::clamp(place - step, 0.0, 1.0)};
}

InterpolatedPose interpolate(const Pose<double>& earlier, const Pose<double>& later, double share) {
  InterpolatedPose between;
  const Vec6<double> way = difference(later, earlier);
  between.X_WB = retract(earlier, Vec6<double>(share * way)).normalized();
  const Vec3<double> phi = way.head<3>(), part = share * phi;
  const Mat3<double> by_later = share * left_jacobian_so3(part) * left_jacobian_inverse_so3(phi);
  between.by_later.setZero();
  between.by_later.topLeftCorner<3, 3>() = by_later;
  between.by_later.bottomRightCorner<3, 3>() = share * Mat3<double>::Identity();
  between.by_earlier.setZero();
  between.by_earlier.topLeftCorner<3, 3>() = exp_so3(part) - by_later * exp_so3(phi);
  between.by_earlier.bottomRightCorner<3, 3>() = (1.0 - share) * Mat3<double>::Identity();
  return between;
}

InterpolatedState interpolate(const State& earlier, const State& later, double share) {
  InterpolatedState between;
  State& state = between.state;
  state = earlier;
  state.time += share * (later.time - earlier.time);
  for (std::size_t b = 0; b < state.X_WB.size(); ++b) {
    between.poses.push_back(interpolate(earlier.X_WB[b], later.X_WB[b], share));
    state.X_WB[b] = between.poses[b].X_WB;
    state.V_WB[b] += share * (later.V_WB[b] - earlier.V_WB[b]);
  }
  for (std::size_t j = 0; j < state.hinge_angles.size(); ++j)
    state.hinge_angles[j] += share * (later.hinge_angles[j] - earlier.hinge_angles[j]);
  return between;
}

MeasurementResidual measurement_residual(const Model& model, std::span<const ShapeSdf* const> sdfs,
                                         const Measurement& measurement, const State& state) {
  const View view{model, sdfs, state};
  return std::visit([&](const auto& what) { return residual_of(view, what); }, measurement.what);
}

}  // namespace abut
