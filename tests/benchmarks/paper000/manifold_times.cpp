/// Figures 7 and 8: time of whole manifolds of two armadillos, and of them with the derivatives of distances
/// and normals; by the number of superquadrics, by the number of poses in a batch, and without some kinds of
/// contacts.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "../support/colliding_poses.h"
#include "../support/gnuplot.h"
#include "../support/table.h"
#include "../timer.h"
#include "collision/fitting/make_body.h"
#include "collision/manifold/pair_manifold.h"
#include "engine/body_io.h"
#include "figure.h"

namespace abut::paper000 {
namespace {

using benchmarks::colliding_poses;
using benchmarks::png_header;
using benchmarks::run_gnuplot;
using benchmarks::Table;

constexpr int k_most_primitives = 18;
constexpr int k_vertices = 305;

double volume_of(const Primitive& primitive) {
  return primitive.parameters[0] * primitive.parameters[1] * primitive.parameters[2];
}

/// How deep a primitive reaches into a solid: the least distance over points within it [m].
double reach_into(const ShapeSdf& sdf, const Primitive& primitive) {
  const ShapeSdf own({.primitives = {primitive}, .union_smoothing = 1e-6});
  constexpr int k_steps = 8;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= k_steps; ++i) {
    for (int j = 0; j <= k_steps; ++j) {
      for (int k = 0; k <= k_steps; ++k) {
        Vec3<double> x(2.0 * i / k_steps - 1.0, 2.0 * j / k_steps - 1.0, 2.0 * k / k_steps - 1.0);
        for (int axis = 0; axis < 3; ++axis) x[axis] *= primitive.parameters[static_cast<std::size_t>(axis)];
        x = primitive.X_BP * x;
        if (own.distance(x) <= 0.0) least = std::min(least, sdf.distance(x));
      }
    }
  }
  return least;
}

/// The primitives of the armadillo in an order in which each touches those before it, the large ones first.
std::vector<Primitive> grown_armadillo(const Body& armadillo) {
  std::vector<Primitive> left = armadillo.shape.primitives, chosen;
  std::sort(left.begin(), left.end(),
            [](const Primitive& a, const Primitive& b) { return volume_of(a) > volume_of(b); });
  while (!left.empty()) {
    std::size_t next = 0;
    if (!chosen.empty()) {
      const ShapeSdf sdf({.primitives = chosen, .union_smoothing = armadillo.shape.union_smoothing});
      std::vector<double> reach;
      for (const Primitive& primitive : left) reach.push_back(reach_into(sdf, primitive));
      const auto touching = std::find_if(reach.begin(), reach.end(), [](double d) { return d < 0.0; });
      next = static_cast<std::size_t>(
          (touching != reach.end() ? touching : std::min_element(reach.begin(), reach.end())) -
          reach.begin());
    }
    chosen.push_back(left[next]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  return chosen;
}

/// The armadillo of its first `count` primitives, with a collision mesh of its own.
Body armadillo_of(const std::vector<Primitive>& primitives, int count, double union_smoothing, bool quick) {
  Shape shape;
  shape.primitives.assign(primitives.begin(), primitives.begin() + count);
  MeshedBodyOptions options;
  options.union_smoothing = union_smoothing;
  options.resolution = quick ? 32 : 96;
  options.mesh.vertices = k_vertices;
  options.mesh.rounds = quick ? 1 : 4;
  return make_meshed_body(shape, options).body;
}

struct Protocol {
  int repetitions, least_repetitions;
  double seconds, least_duration;  ///< as in figure 6 [s]
};

Protocol protocol(bool quick) { return quick ? Protocol{3, 1, 0.01, 0.0} : Protocol{51, 3, 0.05, 1e-3}; }

/// Median time of one manifold of a batch, in a row of poses [us]; `contacts` is their mean number.
double time_of_manifold(const Body& body, const ContactConfig& config, bool gradient,
                        std::span<const PosePair> poses, const Protocol& protocol,
                        double* contacts = nullptr) {
  const PairManifold<float> pair(body, body, config);
  const ManifoldOrder order = gradient ? ManifoldOrder::jacobian : ManifoldOrder::value;
  PairScratch<float> scratch;
  std::vector<ContactBlock<float>> blocks(poses.size());
  const auto seconds_of = [&](int calls) {
    const double start = benchmarks::cpu_seconds();
    for (int call = 0; call < calls; ++call) {
      for (std::size_t i = 0; i < poses.size(); ++i) pair.find(poses[i], order, scratch, blocks[i]);
    }
    return benchmarks::cpu_seconds() - start;
  };
  int calls = 1;
  double total = seconds_of(calls);
  while (total < protocol.least_duration) total = seconds_of(calls *= 2);
  std::vector<double> times;
  total = 0.0;
  while (static_cast<int>(times.size()) < protocol.repetitions &&
         (total < protocol.seconds || static_cast<int>(times.size()) < protocol.least_repetitions)) {
    times.push_back(seconds_of(calls));
    total += times.back();
  }
  if (contacts != nullptr) {
    *contacts = 0.0;
    for (const ContactBlock<float>& block : blocks) *contacts += block.count;
    *contacts /= static_cast<double>(blocks.size());
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2), times.end());
  return 1e6 * times[times.size() / 2] / (static_cast<double>(poses.size()) * calls);
}

/// `count` poses, taken again from the start where there are fewer.
std::vector<PosePair> repeated(const std::vector<Pose<double>>& poses, std::size_t count) {
  std::vector<PosePair> r;
  for (std::size_t i = 0; i < count; ++i) r.push_back({Pose<double>(), poses[i % poses.size()]});
  return r;
}

struct Variant {
  const char *name, *title;
  bool gradient;
};

constexpr std::array k_variants{Variant{"values", "contacts", false},
                                Variant{"gradient", "contacts with derivatives", true}};

std::vector<int> batch_sizes(bool quick) {
  return quick ? std::vector<int>{1, 4} : std::vector<int>{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
}

Body read_armadillo() { return read_body(ABUT_SOURCE_DIR "/assets/bodies/armadillo"); }

}  // namespace

void draw_manifold_times(const FigureOptions& options) {
  const Protocol steps = protocol(options.quick);
  const Body armadillo = read_armadillo();
  const std::vector<Primitive> primitives = grown_armadillo(armadillo);
  const double tau = armadillo.shape.union_smoothing;
  const std::size_t pose_count = options.quick ? 4 : 100;

  std::vector<std::string> columns{"primitives", "contacts"};
  for (const Variant& variant : k_variants) columns.push_back(fmt::format("{}[us/manifold]", variant.name));
  Table complexity(columns);
  std::vector<int> counts;
  for (int k = 1; k <= (options.quick ? 2 : k_most_primitives); ++k) counts.push_back(k);
  fmt::print(
      "\n| superquadrics | contacts | manifold [µs] | times with derivatives |\n| --- | --- | --- | --- |\n");
  for (const int k : counts) {
    const Body body = armadillo_of(primitives, k, tau, options.quick);
    const std::vector<PosePair> poses =
        repeated(colliding_poses(body, static_cast<int>(pose_count)), pose_count);
    std::vector<double> row{static_cast<double>(k), 0.0};
    for (const Variant& variant : k_variants)
      row.push_back(time_of_manifold(body, ContactConfig(), variant.gradient, poses, steps, &row[1]));
    complexity.add_row(row);
    fmt::print("| {0} x {0} | {1:.0f} | {2:.1f} | {3:.2f} |\n", k, row[1], row[2], row[3] / row[2]);
  }
  complexity.write(options.folder / "figure7_complexity.tsv");

  const std::array<int, 2> shown{options.quick ? 1 : 5, options.quick ? 2 : k_most_primitives};
  for (const int k : shown) {
    const Body body = armadillo_of(primitives, k, tau, options.quick);
    const std::vector<Pose<double>> poses = colliding_poses(body, static_cast<int>(pose_count));
    columns = {"batch"};
    for (const Variant& variant : k_variants) columns.push_back(fmt::format("{}[us/batch]", variant.name));
    Table batches(columns);
    for (const int size : batch_sizes(options.quick)) {
      const std::vector<PosePair> batch = repeated(poses, static_cast<std::size_t>(size));
      std::vector<double> row{static_cast<double>(size)};
      for (const Variant& variant : k_variants)
        row.push_back(size * time_of_manifold(body, ContactConfig(), variant.gradient, batch, steps));
      batches.add_row(row);
    }
    batches.write(options.folder / fmt::format("figure7_batch_{}.tsv", k == shown[0] ? "few" : "many"));
  }
  if (!options.pictures) return;
  std::string script = png_header("figure7.png", 1100, 520);
  script += R"(
set multiplot layout 1,2 margins 0.07,0.985,0.215,0.93 spacing 0.08,0.1
set xlabel 'superquadrics of each body [-]' offset 0,0.3
set ylabel 'time of a manifold [µs]' offset 1,0
set title 'by complexity, mean of 100 poses' offset 0,-0.5
set logscale y
set yrange [10:500]
set xrange [0.5:18.5]
set xtics 1,2
unset key
plot )";
  const auto curve = [&](const char* file, std::size_t variant, std::size_t column, const char* dashes,
                         bool titled) {
    return fmt::format("'figure7_{}.tsv' using 1:{} with linespoints ls {}{} title '{}'", file, column,
                       variant + 1, dashes, titled ? k_variants[variant].title : "");
  };
  std::string separator;
  for (std::size_t i = 0; i < k_variants.size(); ++i) {
    script += separator + curve("complexity", i, i + 3, "", false);
    separator = ", ";
  }
  script += fmt::format(R"(
set title 'by batch: {1} x {1} superquadrics solid, {0} x {0} dashed' offset 0,-0.5
set xlabel 'poses in a batch [-]' offset 0,0.3
set ylabel 'time of a batch [µs]' offset 1,0
set logscale xy
set format y '10^{{%T}}'
set xrange [0.8:1300]
set yrange [10:1e6]
set xtics ('1' 1, '4' 4, '16' 16, '64' 64, '256' 256, '1024' 1024)
set key at screen 0.5,0.055 center maxrows 2 samplen 3
plot )",
                        shown[0], shown[1]);
  separator.clear();
  for (std::size_t i = 0; i < k_variants.size(); ++i) {
    script += separator + curve("batch_many", i, i + 2, "", true) + ", " +
              curve("batch_few", i, i + 2, " dt 2", false);
    separator = ", ";
  }
  run_gnuplot(script + "\nunset multiplot\n", options.folder);
}

void draw_ablation_times(const FigureOptions& options) {
  const Protocol steps = protocol(options.quick);
  const Body armadillo = read_armadillo();
  const Body body = armadillo_of(grown_armadillo(armadillo), options.quick ? 2 : k_most_primitives,
                                 armadillo.shape.union_smoothing, options.quick);
  const std::vector<Pose<double>> poses = colliding_poses(body, options.quick ? 4 : 100);
  struct Ablation {
    const char *name, *title;
    ContactConfig config;
  };
  std::array<Ablation, 3> ablations{Ablation{"full", "full manifold", {}},
                                    Ablation{"no_edges", "without edge-edge", {}},
                                    Ablation{"one_sided", "one-sided vertex-SDF alone", {}}};
  ablations[1].config.edge_edge = false;
  ablations[2].config.edge_edge = false;
  ablations[2].config.vertex_contacts = VertexContacts::first;
  std::vector<std::string> columns{"batch"};
  for (const Ablation& ablation : ablations) columns.push_back(fmt::format("{}[us/batch]", ablation.name));
  Table table(columns);
  std::vector<double> row;
  for (const int size : batch_sizes(options.quick)) {
    const std::vector<PosePair> batch = repeated(poses, static_cast<std::size_t>(size));
    row = {static_cast<double>(size)};
    for (const Ablation& ablation : ablations)
      row.push_back(size * time_of_manifold(body, ablation.config, false, batch, steps));
    table.add_row(row);
  }
  table.write(options.folder / "figure8.tsv");
  fmt::print(
      "\n| batch of {} | full manifold [µs] | times as fast without edge-edge | as fast again, one-sided |\n"
      "| --- | --- | --- | --- |\n| | {:.1f} | {:.2f} | {:.2f} |\n",
      row[0], row[1] / row[0], row[1] / row[2], row[2] / row[3]);
  if (!options.pictures) return;
  std::string script = png_header("figure8.png", 620, 480);
  script += R"(
set xlabel 'poses in a batch [-]' offset 0,0.3
set ylabel 'time of a batch [µs]' offset 1,0
set logscale xy
set format y '10^{%T}'
set xrange [0.8:1300]
set yrange [3:1e6]
set xtics ('1' 1, '4' 4, '16' 16, '64' 64, '256' 256, '1024' 1024)
set key top left samplen 3
plot )";
  for (std::size_t i = 0; i < 3; ++i) {
    script += fmt::format("{}'figure8.tsv' using 1:{} with linespoints ls {} title '{}'", i == 0 ? "" : ", ",
                          2 + i, i + 1, ablations[i].title);
  }
  run_gnuplot(script + "\n", options.folder);
}

}  // namespace abut::paper000
