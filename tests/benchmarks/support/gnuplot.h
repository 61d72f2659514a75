/// Pictures of tables, by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace abut::benchmarks {

/// Runs a script in `folder`, so that names of tables and of the picture are relative to it. Throws
/// std::runtime_error if gnuplot is not installed or refuses the script.
void run_gnuplot(std::string_view script, const std::filesystem::path& folder);

/// Sets the terminal to a PNG of this name and size [pixels], and line styles 1 to 8 to colours that the
/// colour-blind tell apart (Okabe and Ito's). A script begins with it.
[[nodiscard]] std::string png_header(std::string_view name, int width, int height);

}  // namespace abut::benchmarks
