#include "apps/picture/image_drawing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#define ABUT_STB_HEADER <stb/stb_easy_font.h>
#include "apps/picture/stb_header.h"

namespace abut {
namespace {

constexpr int k_dot = 2;  // pixels along each side of a dot of the font

std::array<std::uint8_t, 3> bytes_of(const Colour& colour) {
  std::array<std::uint8_t, 3> bytes{};
  for (int c = 0; c < 3; ++c)
    bytes[static_cast<std::size_t>(c)] =
        static_cast<std::uint8_t>(std::lround(255.0f * std::clamp(colour[c], 0.0f, 1.0f)));
  return bytes;
}

/// What the font has letters for.
std::string printable(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= ' ' && c <= '~' ? c : '?';
  return result;
}

std::uint8_t* pixel_at(Image& image, int x, int y) {
  return image.pixels.data() + 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                    static_cast<std::size_t>(x));
}

}  // namespace

Image blank_image(int width, int height, const Colour& colour) {
  Image image{width, height, {}};
  image.pixels.resize(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  fill_rectangle(image, 0, 0, width, height, colour);
  return image;
}

void paste(Image& image, int x, int y, const Image& part) {
  const int left = std::max(0, -x), right = std::min(part.width, image.width - x);
  for (int row = std::max(0, -y); row < part.height && y + row < image.height && left < right; ++row) {
    const std::uint8_t* const from =
        part.pixels.data() + 3 * (static_cast<std::size_t>(row) * static_cast<std::size_t>(part.width) +
                                  static_cast<std::size_t>(left));
    std::copy_n(from, 3 * (right - left), pixel_at(image, x + left, y + row));
  }
}

void fill_rectangle(Image& image, int x, int y, int width, int height, const Colour& colour) {
  const std::array<std::uint8_t, 3> bytes = bytes_of(colour);
  const int right = std::min(x + width, image.width), bottom = std::min(y + height, image.height);
  for (int row = std::max(y, 0); row < bottom; ++row) {
    for (int column = std::max(x, 0); column < right; ++column)
      std::copy(bytes.begin(), bytes.end(), pixel_at(image, column, row));
  }
}

int text_height() { return 7 * k_dot; }

int text_width(std::string_view text) { return k_dot * stb_easy_font_width(printable(text).data()); }

void draw_text(Image& image, int x, int y, std::string_view text, const Colour& colour) {
  struct Corner {
    float x, y, z;
    std::array<unsigned char, 4> colour;
  };
  constexpr std::size_t k_bytes_of_letter = 1024;
  std::string line = printable(text);
  std::vector<char> buffer(k_bytes_of_letter * (line.size() + 1));
  const int quads =
      stb_easy_font_print(0.0f, 0.0f, line.data(), nullptr, buffer.data(), static_cast<int>(buffer.size()));
  for (int q = 0; q < quads; ++q) {
    std::array<Corner, 4> corners;
    std::memcpy(corners.data(), buffer.data() + static_cast<std::size_t>(q) * sizeof(corners),
                sizeof(corners));
    const auto pixels = [](float dots) {
      return static_cast<int>(std::lround(static_cast<float>(k_dot) * dots));
    };
    const int left = pixels(corners[0].x), top = pixels(corners[0].y);
    fill_rectangle(image, x + left, y + top, pixels(corners[2].x) - left, pixels(corners[2].y) - top, colour);
  }
}

}  // namespace abut
