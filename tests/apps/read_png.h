/// PNG files as pixels.
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>

#include "apps/picture/image.h"
#include "engine/atomic_file.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define ABUT_STB_HEADER <stb/stb_image.h>
#include "apps/picture/stb_header.h"

namespace abut::test {

/// Throws std::runtime_error for what is no PNG file.
inline Image read_png(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  Image image;
  int channels = 0;
  stbi_uc* const pixels =
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                            &image.width, &image.height, &channels, 3);
  if (pixels == nullptr) throw std::runtime_error(path.string() + " is no PNG file");
  image.pixels.assign(pixels, pixels + std::size_t{3} * static_cast<std::size_t>(image.width) *
                                           static_cast<std::size_t>(image.height));
  stbi_image_free(pixels);
  return image;
}

}  // namespace abut::test
