#include "apps/abut/picture_options.h"

#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "apps/abut/options.h"

namespace abut {
namespace {

std::optional<Vec3<double>> point(std::span<const double> numbers) {
  if (numbers.empty()) return std::nullopt;
  const Vec3<double> p(numbers[0], numbers[1], numbers[2]);
  if (!p.allFinite()) throw std::invalid_argument("the camera's position and target must be finite");
  return p;
}

}  // namespace

void add_picture_options(CLI::App& app, PictureOptions& options) {
  const auto size = [&](const char* name, int& value) {
    app.add_option(name, value, "of the picture [pixels]")
        ->check(whole_number(1, 16384))
        ->type_name("N")
        ->capture_default_str();
  };
  size("--width", options.width);
  size("--height", options.height);
  const auto numbers = [&](const char* name, std::vector<double>& values, int count, const char* what,
                           const char* type) {
    return app.add_option(name, values, what)
        ->expected(count)
        ->delimiter(',')
        ->check(number_between())
        ->type_name(type);
  };
  CLI::Option* from = numbers("--camera-from", options.camera_from, 3,
                              "where the camera is [m]; default: all bodies are in view", "X,Y,Z");
  CLI::Option* to = numbers("--camera-to", options.camera_to, 3,
                            "where it looks [m]; default: the middle of all bodies", "X,Y,Z");
  numbers("--camera", options.camera, 6, "both at once: where it is, and where it looks", "X,Y,Z,X,Y,Z")
      ->excludes(from)
      ->excludes(to);
  const std::map<std::string, Quality> qualities{{"plain", Quality::plain}, {"full", Quality::full}};
  app.add_option("--quality", options.quality,
                 "plain is without shadows and ambient occlusion; default: full, but plain in\n"
                 "a window without a graphics card")
      ->transform(CLI::CheckedTransformer(qualities).description("plain or full"))
      ->type_name("LEVEL");
  app.add_flag("--outlines", options.outlines, "dark lines at silhouettes and sharp edges");
}

OrbitCamera camera_of(const PictureOptions& options, const Model& model, std::span<const Pose<double>> X_WB,
                      const OrbitCamera& like, std::span<const Points> others_W) {
  const std::span<const double> both(options.camera);
  const auto from = point(both.empty() ? std::span(options.camera_from) : both.first(3)),
             to = point(both.empty() ? std::span(options.camera_to) : both.last(3));
  const OrbitCamera around = camera_around(model, X_WB, options.aspect(), like, to, others_W);
  if (!from) return around;
  if (*from == around.target)
    throw std::invalid_argument(
        "the camera (--camera-from) and where it looks (--camera-to) are the same point");
  return camera_between(*from, around.target, like);
}

}  // namespace abut
