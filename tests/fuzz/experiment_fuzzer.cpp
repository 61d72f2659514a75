// Fuzz target: experiments, with their measurements and without.

#include "apps/identification/experiment_io.h"
#include "tests/fuzz/fuzz_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  static const abut::fuzz::FuzzFile file("experiments", "input.toml");
  for (const abut::DataUse use : {abut::DataUse::plan, abut::DataUse::read}) {
    (void)file.try_to(bytes, size,
                      [use](const std::filesystem::path& path) { (void)abut::read_experiment(path, use); });
  }
  return 0;
}
