// Fuzz target: tables of rollouts; the first and the last rollout of those that are accepted are made.

#include "apps/abut/batch_table.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("scenes", "input.toml");
  return file.try_to(bytes, size, [](const std::filesystem::path& path) {
    const abut::BatchTable table(path);
    (void)table.task_of(0);
    (void)table.task_of(table.rollouts() - 1);
  });
}
