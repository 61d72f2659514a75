#include "engine/gltf_mesh.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <nlohmann/json.hpp>

#include "engine/atomic_file.h"
#include "engine/input_error.h"
#include "engine/types.h"

namespace abut {
namespace {

using Json = nlohmann::json;

constexpr std::uint64_t k_max_gltf_count = 100'000'000;  // vertices or triangles; keeps every index an int

std::uint32_t little_endian(std::string_view bytes, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t k = 4; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[offset + k]);
  return value;
}

/// A file while it is read: its JSON, and its buffers.
class GltfFile {
 public:
  GltfFile(const std::filesystem::path& path, const std::string& bytes, bool with_colours)
      : path_(path), with_colours_(with_colours) {
    std::string_view text = bytes;
    if (text.starts_with("glTF")) text = split_binary(text);
    try {
      json_ = Json::parse(text);
    } catch (const Json::exception& error) {
      fail(fmt::format("is no glTF file: {}", error.what()));
    }
    const Json& asset = object(json_, "asset", "the file");
    const auto version = asset.find("version");
    if (version == asset.end() || !version->is_string() || !version->get<std::string>().starts_with("2."))
      fail("is no glTF 2.0 file: 'asset' has no version 2");
  }

  ColouredMesh read() {
    std::vector<std::size_t> roots = root_nodes();
    visited_.assign(list("nodes").size(), false);
    std::vector<std::pair<std::size_t, Eigen::Affine3d>> waiting;
    for (auto root = roots.rbegin(); root != roots.rend(); ++root)
      waiting.emplace_back(*root, Eigen::Affine3d::Identity());
    while (!waiting.empty()) {
      const auto [index, X_above] = waiting.back();
      waiting.pop_back();
      const Json& node = element("nodes", index);
      const std::string name = fmt::format("node {}", index);
      if (visited_[index]) fail(name + " has two nodes above it");
      visited_[index] = true;
      const Eigen::Affine3d X = X_above * transform(node, name);
      if (const auto mesh = node.find("mesh"); mesh != node.end())
        add_mesh(number(*mesh, name + ", mesh"), X);
      if (const auto children = node.find("children"); children != node.end()) {
        if (!children->is_array()) fail(name + ", children: not a list");
        for (auto child = children->rbegin(); child != children->rend(); ++child)
          waiting.emplace_back(number(*child, name + ", children"), X);
      }
    }
    if (triangles_.empty()) fail("no triangles in its scene");
    ColouredMesh result;
    TriangleMesh& mesh = result.mesh;
    mesh.vertices.resize(3, static_cast<Eigen::Index>(vertices_.size()));
    for (std::size_t v = 0; v < vertices_.size(); ++v)
      mesh.vertices.col(static_cast<Eigen::Index>(v)) = vertices_[v];
    mesh.triangles = std::move(triangles_);
    if (std::any_of(colours_.begin(), colours_.end(), [](const auto& c) { return c.has_value(); }))
      result.vertex_colours = std::move(colours_);
    return result;
  }

 private:
  /// The bytes of an accessor: `count` elements, `stride` apart.
  struct View {
    std::string_view bytes;
    std::size_t count = 0, stride = 0;
    std::uint64_t component = 0;  ///< type of its numbers, by the code of glTF
  };

  [[noreturn]] void fail(std::string_view message) const { throw InputError(path_.string(), 0, message); }

  /// Header and chunks of a .glb file: the text of the first, and the rest into binary_.
  std::string_view split_binary(std::string_view bytes) {
    constexpr std::size_t k_header = 12, k_chunk = 8;
    constexpr std::uint32_t k_json = 0x4E4F534A, k_bin = 0x004E4942;
    if (bytes.size() < k_header + k_chunk) fail("is cut off within its header");
    if (little_endian(bytes, 4) != 2) fail(fmt::format("is of version {}, not 2", little_endian(bytes, 4)));
    std::string_view text;
    std::size_t offset = k_header;
    for (int chunk = 0; offset < bytes.size(); ++chunk) {
      if (bytes.size() - offset < k_chunk) fail(fmt::format("chunk {} is cut off", chunk));
      const std::size_t size = little_endian(bytes, offset);
      const std::uint32_t type = little_endian(bytes, offset + 4);
      offset += k_chunk;
      if (bytes.size() - offset < size) fail(fmt::format("chunk {} is cut off", chunk));
      if (chunk == 0 && type != k_json) fail("its first chunk is not JSON");
      if (chunk == 0) text = bytes.substr(offset, size);
      if (chunk == 1 && type == k_bin) binary_ = bytes.substr(offset, size);
      offset += size;
    }
    return text;
  }

  // JSON, with the reason where it is not what it should be.

  [[nodiscard]] const Json& object(const Json& json, const char* key, std::string_view where) const {
    if (!json.is_object()) fail(fmt::format("{} is not an object", where));
    const auto found = json.find(key);
    if (found == json.end()) fail(fmt::format("{} has no '{}'", where, key));
    if (!found->is_object()) fail(fmt::format("'{}' of {} is not an object", key, where));
    return *found;
  }
  [[nodiscard]] std::uint64_t number(const Json& json, std::string_view where) const {
    if (!json.is_number_unsigned()) {  // dump() of anything else may be long, and is recursive
      fail(fmt::format("{}: {} is not a whole number >= 0", where,
                       json.is_number() ? json.dump() : std::string("a value of type ") + json.type_name()));
    }
    return json.get<std::uint64_t>();
  }
  [[nodiscard]] std::uint64_t number(const Json& json, const char* key, std::string_view where,
                                     std::optional<std::uint64_t> otherwise = {}) const {
    const auto found = json.find(key);
    if (found == json.end() && otherwise) return *otherwise;
    if (found == json.end()) fail(fmt::format("{} has no '{}'", where, key));
    return number(*found, fmt::format("{}, {}", where, key));
  }
  /// A list of the file; an empty one if it has none of that name.
  [[nodiscard]] const Json& list(const char* key) const {
    static const Json k_none = Json::array();
    const auto found = json_.find(key);
    if (found == json_.end()) return k_none;
    if (!found->is_array()) fail(fmt::format("'{}' is not a list", key));
    return *found;
  }
  [[nodiscard]] const Json& element(const char* key, std::uint64_t index) const {
    const Json& all = list(key);
    if (index >= all.size()) fail(fmt::format("element {} of '{}', which has {}", index, key, all.size()));
    if (!all[index].is_object()) fail(fmt::format("element {} of '{}' is not an object", index, key));
    return all[index];
  }
  /// The numbers of a list of `count`; finite.
  template <int count>
  [[nodiscard]] std::optional<Eigen::Matrix<double, count, 1>> numbers(const Json& json, const char* key,
                                                                       std::string_view where) const {
    const auto found = json.find(key);
    if (found == json.end()) return std::nullopt;
    Eigen::Matrix<double, count, 1> result;
    if (!found->is_array() || found->size() != count)
      fail(fmt::format("{}, {}: not {} numbers", where, key, count));
    for (int i = 0; i < count; ++i) {
      const Json& x = (*found)[at(i)];
      if (!x.is_number()) fail(fmt::format("{}, {}: not {} numbers", where, key, count));
      result[i] = x.get<double>();
    }
    if (!result.allFinite()) fail(fmt::format("{}, {}: not finite", where, key));
    return result;
  }

  // The scene.

  [[nodiscard]] std::vector<std::size_t> root_nodes() const {
    std::vector<std::size_t> roots;
    if (!list("scenes").empty()) {
      const std::uint64_t index = number(json_, "scene", "the file", 0);
      const Json& scene = element("scenes", index);
      const auto nodes = scene.find("nodes");
      if (nodes == scene.end()) return roots;
      if (!nodes->is_array()) fail("'nodes' of the scene is not a list");
      for (const Json& node : *nodes) roots.push_back(number(node, "nodes of the scene"));
      return roots;
    }
    std::vector<bool> is_child(list("nodes").size(), false);
    for (const Json& node : list("nodes")) {
      if (!node.is_object() || !node.contains("children") || !node["children"].is_array()) continue;
      for (const Json& child : node["children"]) {
        if (const std::uint64_t i = number(child, "children of a node"); i < is_child.size())
          is_child[i] = true;
      }
    }
    for (std::size_t i = 0; i < is_child.size(); ++i) {
      if (!is_child[i]) roots.push_back(i);
    }
    return roots;
  }

  [[nodiscard]] Eigen::Affine3d transform(const Json& node, const std::string& where) const {
    Eigen::Affine3d X = Eigen::Affine3d::Identity();
    if (const auto matrix = numbers<16>(node, "matrix", where)) {
      X.matrix() = Eigen::Map<const Mat4<double>>(matrix->data());
      if (X.matrix().row(3) != Eigen::RowVector4d(0, 0, 0, 1)) fail(where + ", matrix: not affine");
      return X;
    }
    if (const auto t = numbers<3>(node, "translation", where)) X.translate(*t);
    if (const auto q = numbers<4>(node, "rotation", where)) {
      if (std::abs(q->norm() - 1.0) > 1e-2) fail(where + ", rotation: not a unit quaternion");
      X.rotate(Quat<double>((*q)[3], (*q)[0], (*q)[1], (*q)[2]).normalized());
    }
    if (const auto s = numbers<3>(node, "scale", where)) X.scale(*s);
    return X;
  }

  // Buffers.

  [[nodiscard]] std::string decoded_base64(std::string_view text, const std::string& where) const {
    std::string bytes;
    std::uint32_t bits = 0;
    int count = 0;
    while (text.ends_with('=')) text.remove_suffix(1);
    for (const char c : text) {
      const std::size_t digit =
          std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
      if (digit == std::string_view::npos) fail(where + " is not in base64");
      bits = bits << 6 | static_cast<std::uint32_t>(digit);
      count += 6;
      if (count < 8) continue;
      count -= 8;
      bytes += static_cast<char>(bits >> count & 0xFF);
    }
    return bytes;
  }

  [[nodiscard]] std::string read_uri(const std::string& uri, const std::string& where) const {
    if (uri.starts_with("data:")) {
      const std::size_t comma = uri.find(',');
      if (comma == std::string::npos || !std::string_view(uri).substr(0, comma).ends_with(";base64"))
        fail(where + " is not in base64");
      return decoded_base64(std::string_view(uri).substr(comma + 1), where);
    }
    std::string name;
    for (std::size_t i = 0; i < uri.size(); ++i) {  // %20 is a blank
      const std::string_view hex = "0123456789abcdef";
      const auto digit = [&](std::size_t k) {
        return k < uri.size() ? hex.find(static_cast<char>(uri[k] | 0x20)) : std::string_view::npos;
      };
      const bool escaped =
          uri[i] == '%' && digit(i + 1) != std::string_view::npos && digit(i + 2) != std::string_view::npos;
      name += escaped ? static_cast<char>(digit(i + 1) << 4 | digit(i + 2)) : uri[i];
      i += escaped ? 2 : 0;
    }
    const std::filesystem::path file(name);
    bool leaves =
        file.is_absolute() || name.find(':') != std::string::npos || name.find('\0') != std::string::npos;
    for (const auto& part : file) leaves = leaves || part == "..";
    if (leaves)
      fail(fmt::format("{} is at '{}', outside of the folder of the file", where, name.substr(0, 80)));
    try {
      return read_file(path_.parent_path() / file);
    } catch (const InputError& error) {
      fail(fmt::format("{}: {}", where, error.what()));
    }
  }

  [[nodiscard]] std::string_view buffer(std::uint64_t index) {
    const Json& json = element("buffers", index);
    const std::string where = fmt::format("buffer {}", index);
    const std::uint64_t size = number(json, "byteLength", where);
    std::string_view bytes = binary_;
    if (const auto uri = json.find("uri"); uri != json.end()) {
      if (!uri->is_string()) fail(where + ", uri: not a text");
      buffers_.resize(list("buffers").size());
      std::optional<std::string>& loaded = buffers_[index];
      if (!loaded) loaded = read_uri(uri->get<std::string>(), where);
      bytes = *loaded;
    } else if (index != 0) {
      fail(where + " has no 'uri'");
    }
    if (bytes.size() < size)
      fail(fmt::format("{} has {} bytes, but byteLength is {}", where, bytes.size(), size));
    return bytes.substr(0, size);
  }

  /// The view of an accessor of elements of `components` numbers each, of one of the given types.
  [[nodiscard]] View view(std::uint64_t index, const char* type, std::size_t components,
                          std::initializer_list<std::uint64_t> allowed, const std::string& user) {
    const Json& accessor = element("accessors", index);
    const std::string where = fmt::format("accessor {} ({})", index, user);
    const auto found = accessor.find("type");
    if (found == accessor.end() || *found != type) fail(fmt::format("{}: type is not {}", where, type));
    View result;
    result.component = number(accessor, "componentType", where);
    if (std::find(allowed.begin(), allowed.end(), result.component) == allowed.end())
      fail(fmt::format("{}: componentType {} is not supported", where, result.component));
    if (accessor.contains("sparse")) fail(where + ": sparse accessors are not supported");
    result.count = number(accessor, "count", where);
    if (result.count > k_max_gltf_count) fail(fmt::format("{}: count {} is too large", where, result.count));
    const std::size_t size = components * size_of_component(result.component);
    const std::uint64_t view_index = number(accessor, "bufferView", where);
    const Json& json = element("bufferViews", view_index);
    const std::string view_name = fmt::format("bufferView {}", view_index);
    const std::string_view bytes = buffer(number(json, "buffer", view_name));
    const std::uint64_t begin = number(json, "byteOffset", view_name, 0);
    const std::uint64_t length = number(json, "byteLength", view_name);
    if (begin > bytes.size() || length > bytes.size() - begin) fail(view_name + " lies beyond its buffer");
    result.stride = number(json, "byteStride", view_name, size);
    if (result.stride < size || result.stride > 1024)
      fail(fmt::format("{}: byteStride is {}", view_name, result.stride));
    const std::uint64_t offset = number(accessor, "byteOffset", where, 0);
    if (result.count > 0 && (offset > length || length - offset < size ||
                             (length - offset - size) / result.stride < result.count - 1))
      fail(where + " lies beyond its bufferView");
    result.bytes = bytes.substr(begin + std::min(offset, length));
    return result;
  }

  static std::size_t size_of_component(std::uint64_t component) {
    return component == 5120 || component == 5121 ? 1 : component == 5122 || component == 5123 ? 2 : 4;
  }

  // Meshes.

  void add_mesh(std::uint64_t index, const Eigen::Affine3d& X) {
    const Json& mesh = element("meshes", index);
    const auto primitives = mesh.find("primitives");
    if (primitives == mesh.end() || !primitives->is_array())
      fail(fmt::format("mesh {} has no list 'primitives'", index));
    for (std::size_t i = 0; i < primitives->size(); ++i)
      add_primitive((*primitives)[i], fmt::format("mesh {}, primitive {}", index, i), X);
  }

  void add_primitive(const Json& primitive, const std::string& where, const Eigen::Affine3d& X) {
    constexpr std::uint64_t k_triangles = 4, k_strip = 5, k_fan = 6;
    const Json& attributes = object(primitive, "attributes", where);
    const std::uint64_t mode = number(primitive, "mode", where, k_triangles);
    if (mode > k_fan) fail(fmt::format("{}: mode is {}, allowed: 0 to 6", where, mode));
    if (mode < k_triangles || !attributes.contains("POSITION")) return;
    if (primitive.contains("extensions") && primitive["extensions"].contains("KHR_draco_mesh_compression"))
      fail(where + " is compressed (KHR_draco_mesh_compression), which is not supported");

    const View positions =
        view(number(attributes, "POSITION", where), "VEC3", 3, {5126}, where + ", POSITION");
    const std::size_t first = vertices_.size();
    if (first + positions.count > k_max_gltf_count) fail("too many vertices");
    for (std::size_t v = 0; v < positions.count; ++v) {
      std::array<float, 3> x;
      std::memcpy(x.data(), positions.bytes.data() + v * positions.stride, sizeof(x));
      vertices_.push_back(X * Vec3<double>(x[0], x[1], x[2]));
      if (!vertices_.back().allFinite()) fail(fmt::format("{}: vertex {} is not finite", where, v));
    }

    if (with_colours_) add_colours(primitive, attributes, positions.count, where);

    std::vector<int> corners;
    if (const auto indices = primitive.find("indices"); indices != primitive.end()) {
      const View list_of =
          view(number(*indices, where + ", indices"), "SCALAR", 1, {5121, 5123, 5125}, where + ", indices");
      corners.reserve(list_of.count);
      for (std::size_t i = 0; i < list_of.count; ++i) {
        std::uint32_t vertex = 0;  // x86-64 is little-endian, like the file
        std::memcpy(&vertex, list_of.bytes.data() + i * list_of.stride, size_of_component(list_of.component));
        if (vertex >= positions.count)
          fail(fmt::format("{}: index {} is {}, but there are {} vertices", where, i, vertex,
                           positions.count));
        corners.push_back(static_cast<int>(first + vertex));
      }
    } else {
      for (std::size_t v = 0; v < positions.count; ++v) corners.push_back(static_cast<int>(first + v));
    }

    const bool mirrored = X.linear().determinant() < 0.0;
    const std::size_t step = mode == k_triangles ? 3 : 1;
    for (std::size_t i = 0; i + 2 < corners.size(); i += step) {
      Eigen::Vector3i t(corners[mode == k_fan ? 0 : i], corners[i + 1], corners[i + 2]);
      if (mirrored != (mode == k_strip && i % 2 == 1)) std::swap(t[1], t[2]);
      triangles_.push_back(t);
    }
    if (triangles_.size() > k_max_gltf_count) fail("too many triangles");
  }

  // Colours.

  /// What a number of a colour stands for: bytes and words are fractions.
  static float component_of(const View& view, std::size_t element, std::size_t k) {
    const std::size_t size = size_of_component(view.component);
    const char* const at = view.bytes.data() + element * view.stride + k * size;
    if (view.component == 5126) {
      float x = 0.0f;
      std::memcpy(&x, at, sizeof(x));
      return x;
    }
    std::uint32_t whole = 0;
    std::memcpy(&whole, at, size);
    return static_cast<float>(whole) / (size == 1 ? 255.0f : 65535.0f);
  }

  /// From linear light.
  static float on_screen(float x) {
    if (!(x > 0.0f)) return 0.0f;
    if (x >= 1.0f) return 1.0f;
    return x <= 0.0031308f ? 12.92f * x : 1.055f * std::pow(x, 1.0f / 2.4f) - 0.055f;
  }

  /// baseColorFactor; that of a material with a texture says nothing by itself.
  [[nodiscard]] std::optional<Rgb> material_colour(const Json& primitive, const std::string& where) const {
    const auto material = primitive.find("material");
    if (material == primitive.end()) return std::nullopt;
    const std::uint64_t index = number(*material, where + ", material");
    const Json& json = element("materials", index);
    const auto pbr = json.find("pbrMetallicRoughness");
    if (pbr == json.end() || !pbr->is_object() || pbr->contains("baseColorTexture")) return std::nullopt;
    const auto factor = numbers<4>(*pbr, "baseColorFactor", fmt::format("material {}", index));
    if (!factor) return std::nullopt;
    return Rgb{static_cast<float>((*factor)[0]), static_cast<float>((*factor)[1]),
               static_cast<float>((*factor)[2])};
  }

  void add_colours(const Json& primitive, const Json& attributes, std::size_t count,
                   const std::string& where) {
    const std::optional<Rgb> factor = material_colour(primitive, where);
    std::optional<View> of_vertices;
    if (const auto found = attributes.find("COLOR_0"); found != attributes.end()) {
      const std::uint64_t index = number(*found, where + ", COLOR_0");
      const Json& accessor = element("accessors", index);
      const bool has_alpha = accessor.contains("type") && accessor["type"] == "VEC4";
      of_vertices = view(index, has_alpha ? "VEC4" : "VEC3", has_alpha ? 4 : 3, {5121, 5123, 5126},
                         where + ", COLOR_0");
      if (of_vertices->count != count)
        fail(fmt::format("{}: {} colours for {} vertices", where, of_vertices->count, count));
    }
    if (!factor && !of_vertices) return colours_.resize(vertices_.size());
    for (std::size_t v = 0; v < count; ++v) {
      Rgb colour = factor.value_or(Rgb{1.0f, 1.0f, 1.0f});
      for (std::size_t k = 0; k < 3; ++k)
        colour[k] = on_screen(colour[k] * (of_vertices ? component_of(*of_vertices, v, k) : 1.0f));
      colours_.emplace_back(colour);
    }
  }

  std::filesystem::path path_;
  bool with_colours_;
  Json json_;
  std::string_view binary_;  // of the second chunk of a .glb file
  std::vector<std::optional<std::string>> buffers_;
  std::vector<bool> visited_;
  std::vector<Vec3<double>> vertices_;
  std::vector<Eigen::Vector3i> triangles_;
  std::vector<std::optional<Rgb>> colours_;  // of vertices
};

}  // namespace

ColouredMesh read_gltf(const std::filesystem::path& path, const std::string& bytes, bool with_colours) {
  return GltfFile(path, bytes, with_colours).read();
}

}  // namespace abut
