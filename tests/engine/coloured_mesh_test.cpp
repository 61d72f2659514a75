#include "engine/coloured_mesh.h"

#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/mesh_io.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/malformed.h"
#include "tests/support/mesh_files.h"
#include "tests/support/temporary_folder.h"

namespace abut::test {
namespace {

using Corners = std::vector<std::optional<Rgb>>;

constexpr Rgb k_red{1.0f, 0.0f, 0.0f}, k_green{0.0f, 1.0f, 0.0f}, k_blue{0.0f, 0.0f, 1.0f};

Corners corners_of(const ColouredMesh& mesh) {
  Corners corners;
  for (int t = 0; t < mesh.mesh.triangle_count(); ++t) {
    for (int k = 0; k < 3; ++k) corners.push_back(mesh.colour(t, k));
  }
  return corners;
}

TEST_CASE("read_coloured_mesh: an OBJ has the colours of its vertices, else those of its materials",
          "[engine][value]") {
  const TemporaryFolder folder;
  folder.write("parts.mtl",
               "newmtl red\nKd 1 0 0\nnewmtl green\nKa 0 0 0\nKd 0 2 -1\nnewmtl odd\nKd spectral x\n");
  const auto colours_of = [&](const std::string& text) {
    return corners_of(read_coloured_mesh(folder.write("mesh.obj", text)));
  };
  const std::string square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
  CHECK(colours_of(square + "f 1 2 3 4\n") == Corners(6));
  CHECK(colours_of("v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 1 0 0 1\nv 0 1 0\nf 1 2 3 4\n") ==
        Corners{k_red, k_green, k_blue, k_red, k_blue, std::nullopt});
  CHECK(colours_of("mtllib parts.mtl\n" + square + "usemtl red\nf 1 2 3\nusemtl green\nf 1 3 4\n") ==
        Corners{k_red, k_red, k_red, k_green, k_green, k_green});
  CHECK(colours_of("mtllib none.mtl parts.mtl\n" + square +
                   "f 1 2 3\nusemtl red\nf 1 3 4\nusemtl odd\nf 1 2 4\n") ==
        Corners{std::nullopt, std::nullopt, std::nullopt, k_red, k_red, k_red, std::nullopt, std::nullopt,
                std::nullopt});
  CHECK(colours_of("mtllib none.mtl\n" + square + "usemtl red\nf 1 2 3 4\n") == Corners(6));
  CHECK(colours_of("mtllib .\n" + square + "usemtl\nf 1 2 3 4\n") == Corners(6));
}

TEST_CASE("read_coloured_mesh: a PLY has the colours of its vertices, as bytes or numbers",
          "[engine][value]") {
  const TemporaryFolder folder;
  const auto colours_of = [&](const std::string& type, const std::string& vertices) {
    return corners_of(read_coloured_mesh(folder.write(
        "mesh.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
        "property " +
            type + " red\nproperty " + type + " green\nproperty " + type +
            " blue\n"
            "element face 1\nproperty list uchar int vertex_indices\nend_header\n" +
            vertices + "3 0 1 2\n")));
  };
  CHECK(colours_of("uchar", "0 0 0 255 0 0\n1 0 0 0 255 0\n0 1 0 0 0 255\n") ==
        Corners{k_red, k_green, k_blue});
  CHECK(colours_of("float", "0 0 0 1 0 0\n1 0 0 -3 1 nan\n0 1 0 0 0 7\n") == Corners{k_red, k_green, k_blue});
  CHECK(colours_of("ushort", "0 0 0 65535 0 0\n1 0 0 0 65535 0\n0 1 0 0 0 65535\n") ==
        Corners{k_red, k_green, k_blue});
  // Not all three: no colours. STL has none either.
  const TriangleMesh ball = sphere_mesh(1.0, 1);
  CHECK(read_coloured_mesh(folder.write("a.ply", ascii_ply(ball))).vertex_colours.empty());
  CHECK(read_coloured_mesh(folder.write("a.stl", binary_stl(ball))).vertex_colours.empty());
}

std::string with_replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST_CASE(
    "read_coloured_mesh: a glTF has the colours of its vertices times those of its materials, as a screen "
    "has them",
    "[engine][value]") {
  const TemporaryFolder folder;
  TriangleMesh triangle;
  triangle.vertices = Points::Identity(3, 3);
  triangle.triangles = {{0, 1, 2}};
  const std::string plain = gltf_text(triangle);
  const auto colours_of = [&](const std::string& text) {
    return corners_of(read_coloured_mesh(folder.write("mesh.gltf", text)));
  };
  CHECK(colours_of(plain) == Corners(3));
  const std::string with_material = with_replaced(plain, "\"mode\": 4", "\"mode\": 4, \"material\": 0");
  const auto material = [&](const std::string& pbr) {
    return with_replaced(with_material, "\"buffers\"", "\"materials\": [{" + pbr + "}], \"buffers\"");
  };
  const std::string factor = "\"baseColorFactor\": [1, 0.214041, 0, 0.5]";
  const Corners orange = colours_of(material("\"pbrMetallicRoughness\": {" + factor + "}"));
  REQUIRE(orange[0].has_value());
  CHECK((*orange[0])[0] == Approx(1.0));
  CHECK((*orange[0])[1] == Approx(0.5).margin(1e-4));
  CHECK((*orange[0])[2] == Approx(0.0));
  CHECK(colours_of(material("")) == Corners(3));
  CHECK(colours_of(material("\"pbrMetallicRoughness\": {\"baseColorTexture\": {\"index\": 0}, " + factor +
                            "}")) == Corners(3));
  // The positions, which are those of the unit vectors, as colours.
  const std::string own = with_replaced(plain, "\"POSITION\": 0", "\"POSITION\": 0, \"COLOR_0\": 0");
  CHECK(colours_of(own) == Corners{k_red, k_green, k_blue});
  CHECK(read_mesh(folder.write("mesh.gltf", own)).triangle_count() == 1);

  const auto complaint = [&](const std::string& text) {
    return rejection([&] { return read_coloured_mesh(folder.write("mesh.gltf", text)); });
  };
  CHECK(missing_part(complaint(with_replaced(plain, "\"POSITION\": 0", "\"POSITION\": 0, \"COLOR_0\": 1")),
                     {"mesh.gltf", "COLOR_0", "VEC3"})
            .empty());
  CHECK(missing_part(complaint(with_replaced(plain, "\"POSITION\": 0", "\"POSITION\": 0, \"COLOR_0\": 9")),
                     {"element 9 of 'accessors'"})
            .empty());
  CHECK(missing_part(complaint(with_material), {"element 0 of 'materials'"}).empty());
  CHECK(missing_part(complaint(material("\"pbrMetallicRoughness\": {\"baseColorFactor\": [1, 0]}")),
                     {"baseColorFactor", "4 numbers"})
            .empty());
}

TEST_CASE("write_coloured_obj: comes back with its colours, a vertex once for each of them",
          "[engine][value]") {
  const TemporaryFolder folder;
  const auto path = folder.path() / "mesh.obj";
  ColouredMesh mesh{box_mesh(Vec3<double>(1, 2, 3), 1), {}, {}};
  write_coloured_obj(path, mesh);
  const ColouredMesh plain = read_coloured_mesh(path);
  CHECK(plain.mesh.vertices.cols() == mesh.mesh.vertices.cols());
  CHECK(plain.vertex_colours.empty());

  for (int t = 0; t < mesh.mesh.triangle_count(); ++t)
    mesh.triangle_colours.emplace_back(t % 3 == 0 ? std::nullopt
                                                  : std::optional(t % 3 == 1 ? k_red : k_blue));
  write_coloured_obj(path, mesh);
  const ColouredMesh back = read_coloured_mesh(path);
  CHECK(corners_of(back) == corners_of(mesh));
  REQUIRE(back.mesh.triangle_count() == mesh.mesh.triangle_count());
  for (std::size_t t = 0; t < mesh.mesh.triangles.size(); ++t) {
    for (int k = 0; k < 3; ++k)
      CHECK(back.mesh.vertices.col(back.mesh.triangles[t][k]) ==
            mesh.mesh.vertices.col(mesh.mesh.triangles[t][k]));
  }
}

TEST_CASE("read_coloured_mesh: no mutation of a file makes it crash", "[engine][property]") {
  const TemporaryFolder folder;
  const TriangleMesh mesh = box_mesh(Vec3<double>(1, 1, 1), 1);
  const std::string coloured =
      with_replaced(gltf_text(mesh), "\"POSITION\": 0", "\"POSITION\": 0, \"COLOR_0\": 0");
  constexpr int k_seed = 7;
  CAPTURE(k_seed);
  Random random(k_seed);
  for (int i = 0; i < 300; ++i) {
    const auto path = folder.write("mesh.gltf", mutated(coloured, random));
    try {
      const ColouredMesh read = read_coloured_mesh(path);
      if (!read.vertex_colours.empty())
        REQUIRE(read.vertex_colours.size() == static_cast<std::size_t>(read.mesh.vertex_count()));
    } catch (const InputError&) {
    }
  }
}

}  // namespace
}  // namespace abut::test
