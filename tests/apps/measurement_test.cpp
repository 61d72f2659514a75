#include "apps/identification/measurement.h"

#include <catch2/catch.hpp>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "apps/abut/trajectory_file.h"
#include "apps/identification/measurement_io.h"
#include "dynamics/simulator.h"
#include "engine/body_builder.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"
#include "tests/apps/program.h"
#include "tests/support/cases.h"
#include "tests/support/close.h"

namespace abut::test {
namespace {

using Catch::Contains;

constexpr double k_step = 1e-6;

Vec6<double> unit(int i) { return Vec6<double>::Unit(i); }

const std::string k_header =
    "time,body,position_x,position_y,position_z,orientation_w,orientation_x,orientation_y,orientation_z\n";
const std::string k_row = ",\"box, tilted\",0.1,0.2,0.3,1,0,0,0\n";

struct Place {
  TemporaryFolder folder;
  Scene scene = read_scene(folder.write("scene.toml", k_scene));

  using Kind = MeasurementSource::Kind;
  std::vector<Measurement> read(const std::string& csv, Kind kind = Kind::poses) const {
    return read_file("motion.csv", csv, kind);
  }
  std::vector<Measurement> read_file(const std::string& name, const std::string& text,
                                     Kind kind = Kind::poses) const {
    MeasurementSource source;
    source.file = folder.write(name, text);
    source.kind = kind;
    return read_measurements(source, scene.model, scene.initial.time);
  }
};

}  // namespace

TEST_CASE("interpolate: its ends are the poses, its middle is half way, its derivatives those of differences",
          "[apps][derivative]") {
  Random random(1);
  for (int i = 0; i < 30; ++i) {
    const Pose<double> a = random_pose(random);
    const double turn = i == 0 ? 0.0 : random.uniform(0.0, 3.0);  // no turn at all in one
    const Pose<double> b =
        retract(a, stack<double>(random_rotation_vector(random, turn), random_vector(random)));
    const double share = random.uniform();
    CHECK(difference(interpolate(a, b, 0.0).X_WB, a).norm() < 1e-12);
    CHECK(difference(interpolate(a, b, 1.0).X_WB, b).norm() < 1e-12);
    const Pose<double> middle = interpolate(a, b, 0.5).X_WB;
    CHECK(close(difference(middle, a), Vec6<double>(0.5 * difference(b, a)), 1e-9, 1e-12));
    const InterpolatedPose between = interpolate(a, b, share);
    for (int c = 0; c < 6; ++c) {
      const auto column = [&](bool of_later, double h) {
        const Pose<double> moved = of_later
                                       ? interpolate(a, retract(b, Vec6<double>(h * unit(c))), share).X_WB
                                       : interpolate(retract(a, Vec6<double>(h * unit(c))), b, share).X_WB;
        return difference(moved, between.X_WB);
      };
      const Vec6<double> later = (column(true, k_step) - column(true, -k_step)) / (2.0 * k_step),
                         earlier = (column(false, k_step) - column(false, -k_step)) / (2.0 * k_step);
      CHECK(close(between.by_later.col(c), later, 1e-6, 1e-8));
      CHECK(close(between.by_earlier.col(c), earlier, 1e-6, 1e-8));
    }
  }
}

namespace {

/// Two superquadrics near each other, and what can be asked of them.
struct Pair {
  Model model;
  std::vector<ShapeSdf> solids;
  std::vector<const ShapeSdf*> sdfs;
  std::vector<Pose<double>> X_WB;
  std::vector<Vec6<double>> V_WB;

  explicit Pair(Random& random) {
    for (int b = 0; b < 2; ++b) {
      Body body = make_box({0.1, 0.08, 0.06}, 0.02, 500.0);
      body.name = b == 0 ? "first" : "second";
      body.p_BA = random_vector(random, 0.02);
      Primitive& primitive = body.shape.primitives.front();
      primitive.kind = PrimitiveKind::superquadric;
      primitive.parameters = {0.1, 0.08, 0.06, 0.7, 0.9};
      model.bodies.push_back(body);
      V_WB.push_back(random_vector<6>(random));
    }
    for (const int body_A : {0, -1}) {  // apart and askew, as measured poses may have them
      for (const JointKind kind : {JointKind::hinge, JointKind::slider}) {
        Joint joint;
        joint.kind = kind;
        joint.body_A = body_A;
        joint.body_B = 1;
        joint.X_AJ = random_pose(random);
        joint.X_BJ = random_pose(random);
        model.joints.push_back(joint);
      }
    }
    for (const Body& body : model.bodies) solids.emplace_back(body.shape);
    for (const ShapeSdf& solid : solids) sdfs.push_back(&solid);
    X_WB.push_back(random_pose(random));
    X_WB.push_back(X_WB.front() * Pose<double>{exp_quaternion(random_rotation_vector(random, 1.0)),
                                               0.13 * random.unit_vector()});
  }
  [[nodiscard]] MeasurementResidual residual(const Measurement& measurement) const {
    return measurement_residual(model, sdfs, measurement, State{X_WB, V_WB, 0.0, {}});
  }
};

std::vector<Measurement> measurements_of_all_kinds(Random& random, const Pair& pair) {
  MeasuredPose pose{1, random_vector(random), exp_quaternion(random_rotation_vector(random, 2.0)), 0.01, 0.2};
  MeasuredTwist twist{0, random_vector<6>(random), 0.3, 0.1};
  SurfacePoints points{1, Points(3, 5), 0.02};
  for (int i = 0; i < 5; ++i)
    points.p_W.col(i) = pair.X_WB[1] * Vec3<double>(random.uniform(0.05, 0.15) * random.unit_vector());
  ContactPlace place{0, 1, 0.08 * random.unit_vector(), 0.08 * random.unit_vector(), 0.01, 0.1};
  Clearance clearance{0, 1, 0.01};
  const auto noise = [&] { return random.uniform(0.1, 1.0); };
  MeasuredJoint hinge{0, random.normal(), std::nullopt, noise(), noise()},
      slider{1, std::nullopt, 0.3, noise(), noise()},
      hinge_on_world{2, 0.2, random.normal(), noise(), noise()},
      slider_on_world{3, 0.1, -0.4, noise(), noise()};
  return {{0.0, pose},  {0.0, twist},  {0.0, points},         {0.0, place},          {0.0, clearance},
          {0.0, hinge}, {0.0, slider}, {0.0, hinge_on_world}, {0.0, slider_on_world}};
}

}  // namespace

TEST_CASE("measurement_residual: the derivatives of every kind by poses and twists are those of differences",
          "[apps][derivative]") {
  Random random(2);
  int overlaps = 0;
  for (int i = 0; i < 20; ++i) {
    Pair pair(random);
    for (const Measurement& measurement : measurements_of_all_kinds(random, pair)) {
      const MeasurementResidual at = pair.residual(measurement);
      REQUIRE(at.residual.size() == residual_count(pair.model, measurement));
      const bool is_clearance = std::holds_alternative<Clearance>(measurement.what);
      overlaps += is_clearance && at.residual.maxCoeff() > 0.0;
      for (const MeasurementResidual::OfBody& of : at.bodies) {
        const auto b = static_cast<std::size_t>(of.body);
        for (int c = 0; c < 6; ++c) {
          const auto moved = [&](double h) {
            std::vector<Pose<double>> X_WB = pair.X_WB;
            X_WB[b] = retract(pair.X_WB[b], Vec6<double>(h * unit(c)));
            return measurement_residual(pair.model, pair.sdfs, measurement, State{X_WB, pair.V_WB, 0.0, {}})
                .residual;
          };
          const auto faster = [&](double h) {
            std::vector<Vec6<double>> V_WB = pair.V_WB;
            V_WB[b][c] += h;
            return measurement_residual(pair.model, pair.sdfs, measurement, State{pair.X_WB, V_WB, 0.0, {}})
                .residual;
          };
          CAPTURE(i, measurement.what.index(), of.body, c);
          const Eigen::VectorXd by_pose = (moved(k_step) - moved(-k_step)) / (2.0 * k_step);
          const Eigen::VectorXd by_twist = (faster(k_step) - faster(-k_step)) / (2.0 * k_step);
          const Eigen::VectorXd zero = Eigen::VectorXd::Zero(at.residual.size());
          const Eigen::VectorXd pose_column = of.by_pose.rows() > 0 ? of.by_pose.col(c) : zero;
          const Eigen::VectorXd twist_column = of.by_twist.rows() > 0 ? of.by_twist.col(c) : zero;
          for (Eigen::Index r = 0; r < zero.size(); ++r) {
            // The hinge of a clearance has its kink where a point just touches.
            if (is_clearance && std::abs(at.residual[r]) < 1e-3) continue;
            REQUIRE(pose_column[r] == Approx(by_pose[r]).epsilon(1e-5).margin(1e-4));
            REQUIRE(twist_column[r] == Approx(by_twist[r]).epsilon(1e-6).margin(1e-6));
          }
        }
      }
    }
  }
  CHECK(overlaps > 5);
}

TEST_CASE("measurement_residual: a pose off by a known way and turn is off by that, with its derivatives",
          "[apps][derivative]") {
  Random random(2);
  Model model;
  model.bodies.resize(1);
  model.bodies[0].p_BA = Vec3<double>(0.1, -0.2, 0.05);
  const std::vector<Vec6<double>> at_rest{Vec6<double>::Zero()};
  for (int i = 0; i < 30; ++i) {
    const Pose<double> X_WB = random_pose(random);
    const Vec3<double> off = random_vector(random, 0.03),
                       turned = random_rotation_vector(random, random.uniform(0.0, 2.0));
    MeasuredPose pose{0, X_WB * model.bodies[0].p_BA - off, std::nullopt, 0.01, 0.2};
    const auto residual_at = [&](const Pose<double>& X) {
      return measurement_residual(model, {}, {0.0, pose}, State{{X}, at_rest, 0.0, {}});
    };
    CHECK(residual_count(model, {0.0, pose}) == 3);
    CHECK(residual_at(X_WB).residual.size() == 3);  // of a rotation that was not measured there is nothing
    pose.q_WA = exp_quaternion<double>(-turned) * X_WB.q;
    CHECK(residual_count(model, {0.0, pose}) == 6);
    const MeasurementResidual at = residual_at(X_WB);
    REQUIRE(at.residual.size() == 6);
    CHECK(close(Vec3<double>(at.residual.head<3>()), Vec3<double>(off / 0.01), 1e-10, 1e-10));
    CHECK(close(Vec3<double>(at.residual.tail<3>()), Vec3<double>(turned / 0.2), 1e-10, 1e-10));
    for (int c = 0; c < 6; ++c) {
      const auto moved = [&](double h) {
        return Vec6<double>(residual_at(retract(X_WB, Vec6<double>(h * unit(c)))).residual);
      };
      CHECK(close(Vec6<double>(at.bodies.front().by_pose.col(c)),
                  Vec6<double>((moved(k_step) - moved(-k_step)) / (2.0 * k_step)), 1e-6, 1e-6));
    }
  }
}

TEST_CASE("measurement_residual: is what the noise makes of what is off", "[apps][value]") {
  Random random(3);
  const Pair pair(random);
  const Body& body = pair.model.bodies[1];
  const Vec3<double> off = random_vector(random, 0.03), turned = random_rotation_vector(random, 1.0);
  MeasuredPose pose{1, pair.X_WB[1] * body.p_BA - off, std::nullopt, 0.01, 0.2};
  CHECK(close(pair.residual({0.0, pose}).residual, Eigen::VectorXd(off / 0.01), 1e-10, 1e-10));
  pose.q_WA = exp_quaternion<double>(-turned) * pair.X_WB[1].q;
  const Eigen::VectorXd both = pair.residual({0.0, pose}).residual;
  REQUIRE(both.size() == 6);
  CHECK(close(Vec3<double>(both.tail<3>()), Vec3<double>(turned / 0.2), 1e-10, 1e-10));

  // A point a centimetre outside of a sphere's surface, in millimetres of noise.
  Pair ball = pair;
  ball.model.bodies[0] = make_sphere(0.1, 1000.0);
  ball.solids[0] = ShapeSdf(ball.model.bodies[0].shape);
  ball.sdfs[0] = &ball.solids[0];
  SurfacePoints point{0, Points(3, 1), 1e-3};
  point.p_W.col(0) = ball.X_WB[0].p + 0.11 * random.unit_vector();
  CHECK(ball.residual({0.0, point}).residual[0] == Approx(10.0));

  MeasuredTwist only_linear{0, pair.V_WB[0], std::numeric_limits<double>::infinity(), 0.1};
  only_linear.V_WB.array() += 1.0;
  const Eigen::VectorXd slower = pair.residual({0.0, only_linear}).residual;
  CHECK(slower.head<3>().isZero(0.0));
  CHECK(slower[4] == Approx(-10.0));
}

TEST_CASE("read_measurements: reads what abut run wrote, from table and archive alike", "[apps][value]") {
  const Place place;
  const Simulator simulator(place.scene.model, place.scene.config.step);
  const Trajectory trajectory = simulator.rollout(place.scene.initial, 20);
  TrajectoryFile file(place.scene.model, "scene.toml");
  for (const State& state : trajectory.states) file.add(state, state.time, 0.0, 0);
  for (const char* name : {"motion.csv", "motion.npz"}) {
    MeasurementSource source;
    source.file = place.folder.path() / name;
    file.write(source.file);
    const std::vector<Measurement> all = read_measurements(source, place.scene.model, 0.0);
    CAPTURE(name);
    REQUIRE(all.size() == 2u * 21u);  // the floor does not move
    for (std::size_t i = 0; i < all.size(); ++i) {
      const State& state = trajectory.states[i / 2];
      CHECK(all[i].time == state.time);
      const MeasurementResidual residual = measurement_residual(place.scene.model, {}, all[i], state);
      CHECK(residual.residual.norm() < 1e-9);
    }
    source.bodies = {"ball"};
    source.kind = MeasurementSource::Kind::positions;
    const std::vector<Measurement> ball = read_measurements(source, place.scene.model, 0.0);
    CHECK(ball.size() == 21u);
    CHECK_FALSE(std::get<MeasuredPose>(ball.front().what).q_WA);
  }
}

TEST_CASE("read_measurements: rotation vectors, quotes, further columns and blank lines", "[apps][value]") {
  const Place place;
  const auto all = place.read(
      "remark,time,body,position_x,position_y,position_z,rotation_vector_x,rotation_vector_y,rotation_vector_"
      "z\r\n"
      "\"a \"\"b\"\", c\",0.5,\"box, tilted\",1,2,3,0,0,1.5\r\n\n"
      ",0.75,\"box, tilted\",1,2,3.5,0,0,1.6\n");
  REQUIRE(all.size() == 2);
  CHECK(body_of(all[0]) == 1);
  CHECK(std::get<MeasuredPose>(all[0].what).p_WA == Vec3<double>(1, 2, 3));
  const Quat<double> q_WA = *std::get<MeasuredPose>(all[1].what).q_WA;
  CHECK(close(log_quaternion(q_WA), Vec3<double>(0, 0, 1.6), 1e-12, 1e-12));
}

TEST_CASE("read_measurements: tables of spreadsheets, with a byte order mark and blanks", "[apps][value]") {
  const Place place;
  const auto all = place.read(
      "\xEF\xBB\xBFtime , body, position_x,position_y, position_z ,orientation_w,orientation_x,orientation_y,"
      "orientation_z\r\n"
      " 0.5 , \"box, tilted\" ,1 ,\t2, 3 ,1,0,0, 0 \r\n0.75,\"box, tilted\",1,2,3.5,1,0,0,0\r\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].time == 0.5);
  CHECK(body_of(all[0]) == 1);
  CHECK(std::get<MeasuredPose>(all[0].what).p_WA == Vec3<double>(1, 2, 3));
}

TEST_CASE("read_measurements: what a planar track does not measure leaves no residual", "[apps][value]") {
  const Place place;
  const std::vector<Measurement> track =
      place.read("time,body,position_z,position_x\n0.1,ball,0.3,0.1\n0.2,ball,0.4,0.2\n",
                 MeasurementSource::Kind::positions);
  REQUIRE(track.size() == 2);
  const auto& pose = std::get<MeasuredPose>(track[1].what);
  CHECK(pose.p_WA == Vec3<double>(0.2, 0.0, 0.4));
  CHECK(pose.components() == std::vector<int>{0, 2});
  CHECK(track[1].lines == std::vector<int>{3});
  CHECK(residual_count(place.scene.model, track[1]) == 2);
}

TEST_CASE("read_measurements: without a column of bodies, rows are of the one that counts", "[apps][value]") {
  const Place place;
  MeasurementSource source;
  source.file = place.folder.write("one.csv", "time,position_x\n0.1,1\n0.2,2\n");
  source.kind = MeasurementSource::Kind::positions;
  source.bodies = {"ball"};
  const auto measurements = read_measurements(source, place.scene.model, 0.0);
  REQUIRE(measurements.size() == 2);
  CHECK(place.scene.model.bodies[static_cast<std::size_t>(body_of(measurements[0]))].name == "ball");
}

TEST_CASE("read_measurements: surface points of a time and body belong together", "[apps][value]") {
  const Place place;
  const std::string points =
      "time,body,position_x,position_y,position_z\n"
      "0.1,ball,0,0,1\n0.1,ball,0,1,1\n0.1,\"box, tilted\",2,0,0\n0.2,ball,0,0,0.9\n";
  const auto all = place.read(points, MeasurementSource::Kind::surface_points);
  REQUIRE(all.size() == 3);
  CHECK(std::get<SurfacePoints>(all[0].what).p_W.cols() == 2);
  CHECK(std::get<SurfacePoints>(all[0].what).p_W.col(1) == Vec3<double>(0, 1, 1));
  CHECK(body_of(all[1]) == 1);
  CHECK(all[2].time == 0.2);
  CHECK_THROWS_WITH(place.read(points + "0.1,ball,0,0,1\n", MeasurementSource::Kind::surface_points),
                    Contains(":6:") && Contains("0.1"));
  CHECK_THROWS_WITH(place.read_file("motion.npz", "", MeasurementSource::Kind::surface_points),
                    Contains(".csv"));
}

TEST_CASE("read_measurements: bad data are named by file, row and column", "[apps][value]") {
  const Place place;
  struct Case {
    std::string text, line, cause;
  };
  const std::string first = "0.1" + k_row;
  const Case cases[] = {
      {"", "motion.csv", "empty"},
      {k_header, "motion.csv", "no measurement"},
      {k_header + first, "motion.csv", "measured once"},
      {"time,body,position_x,position_y,positon_z\n", "motion.csv", "'positon_z'"},
      {"time,body,x,y,z\n", "motion.csv", "add those that were measured"},
      {"body,position_x,position_y\n", "motion.csv", "add the time of each row"},
      {"time,position_x,position_y\n", "motion.csv", "add the name of the body"},
      {"time,body,position_x,position_y\n", "motion.csv", "kind = \"positions\""},
      {"time,body,position_x,position_y,rotation_vector_z\n", "motion.csv", "'rotation_vector_x'"},
      {"time,body,position_x,position_y,position_z\n", "motion.csv", "'orientation_w'"},
      {"tme,body,position_x,position_y,position_z\n", "motion.csv", "'tme'"},
      {"time,body,position_x,position_y,position_z,,,time\n", ":1:", "two columns 'time'"},
      {k_header + first + "0.2,\"box, tilted\",0,0.2,0.3,1,0,0,\"0\n", ":3:", "a quote is not closed"},
      {k_header + first + "0.2,\" box, tilted\",0,0.2,0.3,1,0,0,0\n", ":3:", "no body ' box, tilted'"},
      {k_header + first + "0.2,\"box, tilted\",1 2,0.2,0.3,1,0,0,0\n", ":3:", "'1 2'"},
      {k_header + first + "0.2,\"box, tilted\",nan,0.2,0.3,1,0,0,0\n", ":3:", "'position_x'"},
      {k_header + first + "0.2,\"box, tilted\",,0.2,0.3,1,0,0,0\n", ":3:", "'position_x'"},
      {k_header + first + "0.2s,\"box, tilted\",0,0.2,0.3,1,0,0,0\n", ":3:", "'0.2s'"},
      {k_header + first + "0.2,\"box, tilted\",0,0.2,0.3,1,0,0\n", ":3:", "8 fields"},
      {k_header + first + "0.1" + k_row, ":3:", "does not lie after 0.1"},
      {k_header + "-0.1" + k_row, ":2:", "before the start"},
      {k_header + first + "0.2,\"box, tited\",0,0.2,0.3,1,0,0,0\n", ":3:", "did you mean 'box, tilted'"},
      {k_header + first + "0.2,\"box, tilted\",0,0.2,0.3,2,0,0,0\n", ":3:", "orientation of length 2"},
      {"time,body,position_x,position_y,position_z,rotation_vector_x,rotation_vector_y,rotation_vector_z\n"
       "0.1,ball,0,0,0,0,0,90\n",
       ":2:", "degrees"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    try {
      (void)place.read(c.text);
      FAIL("no error");
    } catch (const InputError& error) {
      CHECK_THAT(error.what(), Contains(c.line) && Contains(c.cause));
    }
  }
  CHECK_THROWS_WITH(place.read_file("motion.txt", ""), Contains(".csv"));
  CHECK_THROWS_WITH(place.read_file("motion.npz", "no archive"), Contains("motion.npz"));
}

}  // namespace abut::test
