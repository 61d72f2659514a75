/// Pictures in memory and as PNG files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "engine/types.h"

namespace abut {

/// RGB, 8 bits a channel (sRGB), rows from the top.
struct Image {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  ///< 3 width height bytes
};

/// Linear light in [0, 1] as a byte of sRGB.
[[nodiscard]] std::uint8_t srgb_byte(double linear);

/// Writes the file whole or not at all. Throws InputError if it cannot be written.
void write_png(const std::filesystem::path& path, const Image& image);

}  // namespace abut
