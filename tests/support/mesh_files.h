/// Small mesh files in every format, and the same bytes damaged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "engine/mesh.h"
#include "engine/random.h"

namespace abut::test {

enum class ByteOrder { little, big };

template <typename T>
void append_bytes(std::string& bytes, T value, ByteOrder order = ByteOrder::little) {
  char raw[sizeof(T)];
  std::memcpy(raw, &value, sizeof(T));
  if (order == ByteOrder::big) std::reverse(raw, raw + sizeof(T));
  bytes.append(raw, sizeof(T));
}

inline std::string obj_text(const TriangleMesh& mesh) {
  std::string text = "# a comment\no part\n";
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    text += fmt::format("v {} {} {}\n", mesh.vertices(0, i), mesh.vertices(1, i), mesh.vertices(2, i));
  }
  text += "vn 0 0 1\nvt 0.5 0.5\n";
  for (const Eigen::Vector3i& t : mesh.triangles) {
    text += fmt::format("f {}/1/1 {}//1 {}/1\n", t[0] + 1, t[1] + 1, t[2] + 1);
  }
  return text;
}

inline std::string ascii_stl(const TriangleMesh& mesh) {
  std::string text = "solid part\n";
  for (const Eigen::Vector3i& t : mesh.triangles) {
    text += "  facet normal 0 0 0\n    outer loop\n";
    for (int k = 0; k < 3; ++k) {
      const Vec3<double> p = mesh.vertices.col(t[k]);
      text += fmt::format("      vertex {} {} {}\n", p.x(), p.y(), p.z());
    }
    text += "    endloop\n  endfacet\n";
  }
  return text + "endsolid part\n";
}

inline std::string binary_stl(const TriangleMesh& mesh) {
  std::string bytes = "made by a test";
  bytes.resize(80, ' ');
  append_bytes(bytes, static_cast<std::uint32_t>(mesh.triangle_count()));
  for (const Eigen::Vector3i& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) append_bytes(bytes, 0.0f);
    for (int k = 0; k < 3; ++k) {
      for (int i = 0; i < 3; ++i) append_bytes(bytes, static_cast<float>(mesh.vertices(i, t[k])));
    }
    append_bytes(bytes, std::uint16_t{0});
  }
  return bytes;
}

inline std::string ply_header(const TriangleMesh& mesh, const std::string& format) {
  return fmt::format(
      "ply\nformat {} 1.0\ncomment by a test\nelement vertex {}\nproperty float x\nproperty float y\n"
      "property float z\nproperty uchar red\nelement face {}\n"
      "property list uchar int vertex_indices\nend_header\n",
      format, mesh.vertex_count(), mesh.triangle_count());
}

inline std::string ascii_ply(const TriangleMesh& mesh) {
  std::string text = ply_header(mesh, "ascii");
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    text += fmt::format("{} {} {} 200\n", mesh.vertices(0, i), mesh.vertices(1, i), mesh.vertices(2, i));
  }
  for (const Eigen::Vector3i& t : mesh.triangles) text += fmt::format("3 {} {} {}\n", t[0], t[1], t[2]);
  return text;
}

inline std::string binary_ply(const TriangleMesh& mesh, ByteOrder order) {
  std::string bytes =
      ply_header(mesh, order == ByteOrder::little ? "binary_little_endian" : "binary_big_endian");
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    for (int k = 0; k < 3; ++k) append_bytes(bytes, static_cast<float>(mesh.vertices(k, i)), order);
    append_bytes(bytes, std::uint8_t{200}, order);
  }
  for (const Eigen::Vector3i& t : mesh.triangles) {
    append_bytes(bytes, std::uint8_t{3}, order);
    for (int k = 0; k < 3; ++k) append_bytes(bytes, std::int32_t{t[k]}, order);
  }
  return bytes;
}

/// Positions as float, then indices of 32 bits: what the buffer of gltf_json() holds.
inline std::string gltf_buffer(const TriangleMesh& mesh) {
  std::string bytes;
  for (int i = 0; i < mesh.vertex_count(); ++i) {
    for (int k = 0; k < 3; ++k) append_bytes(bytes, static_cast<float>(mesh.vertices(k, i)));
  }
  for (const Eigen::Vector3i& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) append_bytes(bytes, static_cast<std::uint32_t>(t[k]));
  }
  return bytes;
}

/// A glTF text with one mesh. `uri` is where its buffer is, with quotation marks; none: in the same .glb
/// file.
inline std::string gltf_json(const TriangleMesh& mesh, const std::string& uri) {
  const int vertices = mesh.vertex_count(), corners = 3 * mesh.triangle_count();
  return fmt::format(
      R"({{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}], "nodes": [{{"mesh": 0}}],
"meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0}}, "indices": 1, "mode": 4}}]}}],
"accessors": [{{"bufferView": 0, "componentType": 5126, "count": {}, "type": "VEC3"}},
  {{"bufferView": 1, "componentType": 5125, "count": {}, "type": "SCALAR"}}],
"bufferViews": [{{"buffer": 0, "byteLength": {}}}, {{"buffer": 0, "byteOffset": {}, "byteLength": {}}}],
"buffers": [{{{}"byteLength": {}}}]}})",
      vertices, corners, 12 * vertices, 12 * vertices, 4 * corners,
      uri.empty() ? "" : "\"uri\": " + uri + ", ", 12 * vertices + 4 * corners);
}

inline std::string base64(const std::string& bytes) {
  constexpr const char* k_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (int k = 3; k >= 0; --k) text += k_digits[bits >> (6 * k) & 63];
  }
  for (std::size_t i = 0; i < (3 - bytes.size() % 3) % 3; ++i) text[text.size() - 1 - i] = '=';
  return text;
}

/// With its buffer in the text.
inline std::string gltf_text(const TriangleMesh& mesh) {
  return gltf_json(mesh, "\"data:application/octet-stream;base64," + base64(gltf_buffer(mesh)) + "\"");
}

/// A binary glTF file of a text and a buffer.
inline std::string glb(std::string text, std::string buffer) {
  text.resize((text.size() + 3) / 4 * 4, ' ');
  buffer.resize((buffer.size() + 3) / 4 * 4, '\0');
  std::string bytes = "glTF";
  append_bytes(bytes, std::uint32_t{2});
  append_bytes(bytes, static_cast<std::uint32_t>(28 + text.size() + buffer.size()));
  append_bytes(bytes, static_cast<std::uint32_t>(text.size()));
  bytes += "JSON" + text;
  append_bytes(bytes, static_cast<std::uint32_t>(buffer.size()));
  bytes += std::string("BIN\0", 4) + buffer;
  return bytes;
}

inline std::string glb(const TriangleMesh& mesh) { return glb(gltf_json(mesh, ""), gltf_buffer(mesh)); }

/// The bytes with a few of them changed, removed, doubled or cut off, at random.
inline std::string mutated(std::string bytes, Random& random) {
  const std::uint64_t changes = 1 + random.integer(4);
  for (std::uint64_t k = 0; k < changes && !bytes.empty(); ++k) {
    const std::size_t at = random.integer(bytes.size());
    switch (random.integer(8)) {
      case 0:
        bytes.resize(at);
        break;
      case 1:
        bytes.erase(at, 1 + random.integer(20));
        break;
      case 2:
        bytes.insert(at, bytes.substr(random.integer(bytes.size()), 1 + random.integer(20)));
        break;
      case 3:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << random.integer(8)));
        break;
      case 4:
        bytes[at] = "0123456789-+.eE/ \n"[random.integer(18)];
        break;
      case 5:
        bytes.insert(at, std::array<const char*, 6>{"nan", "inf", "-1", "1e999", "4294967295",
                                                    "\n"}[random.integer(6)]);
        break;
      default:
        bytes[at] = static_cast<char>(random.integer(256));
        break;
    }
  }
  return bytes;
}

}  // namespace abut::test
