/// How many of its samples a statistical test draws: a fixed fifth in every test run, all of them where
/// ABUT_ALL_SAMPLES is set (`make test-all`). Tests that ask carry the tag [nightly], ctest's label nightly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace abut::test {

/// One in so many samples is drawn by a test run that does not draw all.
inline constexpr int k_sample_share = 5;

/// Whether this run draws all samples. Throws std::logic_error in a test case without the tag [nightly].
[[nodiscard]] bool draws_all_samples();

/// The number of samples to draw of `all` independent ones: the first ones of a random stream, at least one.
[[nodiscard]] inline int samples(int all) {
  return draws_all_samples() ? all : (all + k_sample_share - 1) / k_sample_share;
}

/// The seeds 1, 2, ... of the samples to draw of `all`.
[[nodiscard]] inline std::vector<std::uint64_t> seeds(int all) {
  std::vector<std::uint64_t> drawn(static_cast<std::size_t>(samples(all)));
  std::iota(drawn.begin(), drawn.end(), std::uint64_t{1});
  return drawn;
}

/// Whether to draw the case `index` of an enumeration that is no random stream: every fifth of its cases.
[[nodiscard]] inline bool is_drawn(std::size_t index) {
  return draws_all_samples() || index % static_cast<std::size_t>(k_sample_share) == 0;
}

}  // namespace abut::test
