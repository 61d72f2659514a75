// Fuzz target: plans asked for of a car; of those that can be read, the distances where they begin and end.

#include "apps/planning/car_problem.h"
#include "apps/planning/obstacle_distances.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("experiments", "input.toml");
  return file.try_to(bytes, size, [](const std::filesystem::path& path) {
    const abut::CarProblem problem = abut::read_car_problem(path);
    abut::validate(problem);
    (void)abut::nearest_obstacle(problem, problem.start);
    (void)abut::nearest_obstacle(problem, problem.goal);
  });
}
