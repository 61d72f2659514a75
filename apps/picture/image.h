/// Pictures in memory and as PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace abut {

/// RGB, 8 bits a channel (sRGB), rows from the top.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  ///< 3 width height bytes
};

/// Writes the file whole or not at all. Throws InputError if it cannot be written.
void write_png(const std::filesystem::path& path, const Image& image);

/// Without what is transparent in it. Throws InputError for what is no PNG file.
[[nodiscard]] Image read_png(const std::filesystem::path& path);

}  // namespace abut
