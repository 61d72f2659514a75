#include "apps/picture/image.h"

#include <memory>
#include <string>

#include "engine/atomic_file.h"
#include "engine/input_error.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define ABUT_STB_HEADER <stb/stb_image_write.h>
#include "apps/picture/stb_header.h"
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define ABUT_STB_HEADER <stb/stb_image.h>
#include "apps/picture/stb_header.h"

namespace abut {

void write_png(const std::filesystem::path& path, const Image& image) {
  std::string bytes;
  const auto append = [](void* context, void* data, int size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                               static_cast<std::size_t>(size));
  };
  if (stbi_write_png_to_func(append, &bytes, image.width, image.height, 3, image.pixels.data(),
                             3 * image.width) == 0) {
    throw InputError(path.string(), 0, "the picture cannot be compressed");
  }
  write_file(path, bytes);
}

Image read_png(const std::filesystem::path& path) {
  const std::string bytes = read_file(path);
  Image image;
  int channels = 0;
  const std::unique_ptr<stbi_uc, decltype(&stbi_image_free)> pixels(
      stbi_load_from_memory(reinterpret_cast<const stbi_uc*>(bytes.data()), static_cast<int>(bytes.size()),
                            &image.width, &image.height, &channels, 3),
      &stbi_image_free);
  if (pixels == nullptr) throw InputError(path.string(), 0, "this is no PNG file");
  image.pixels.assign(pixels.get(), pixels.get() + std::size_t{3} * static_cast<std::size_t>(image.width) *
                                                       static_cast<std::size_t>(image.height));
  return image;
}

}  // namespace abut
