#include "engine/mesh_io.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "engine/atomic_file.h"
#include "engine/input_error.h"
#include "engine/mass_properties.h"
#include "engine/mesh_shapes.h"
#include "engine/random.h"
#include "tests/support/malformed.h"
#include "tests/support/mesh_files.h"
#include "tests/support/temporary_folder.h"

using namespace abut;
using test::ByteOrder;

namespace {

/// A closed mesh whose coordinates are floats, so that every format holds it exactly.
TriangleMesh example() {
  TriangleMesh mesh = sphere_mesh(0.75, 1);
  mesh.vertices = mesh.vertices.cast<float>().cast<double>().eval();
  return mesh;
}

bool same_triangles(const TriangleMesh& a, const TriangleMesh& b) {
  return a.vertices == b.vertices && a.triangles == b.triangles;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("mesh_io: an OBJ comes back bit for bit", "[engine][value]") {
  const test::TemporaryFolder folder;
  Random random(11);
  TriangleMesh mesh = sphere_mesh(1.0, 1);
  for (Eigen::Index i = 0; i < mesh.vertices.cols(); ++i) {
    for (Eigen::Index k = 0; k < 3; ++k) {
      mesh.vertices(k, i) = (random.uniform() - 0.5) * std::pow(10.0, random.uniform(-300, 300));
    }
  }
  mesh.vertices.col(3) << 0.0, -0.0, std::numeric_limits<double>::denorm_min();
  write_obj(folder.path() / "mesh.obj", mesh);
  const TriangleMesh again = read_mesh(folder.path() / "mesh.obj");
  CHECK(same_triangles(again, mesh));
  CHECK(std::signbit(again.vertices(1, 3)));
}

TEST_CASE("mesh_io: every format gives the same mesh", "[engine][value]") {
  const test::TemporaryFolder folder;
  const TriangleMesh mesh = example();
  CHECK(same_triangles(read_mesh(folder.write("a.obj", test::obj_text(mesh))), mesh));
  CHECK(same_triangles(read_mesh(folder.write("a.PLY", test::ascii_ply(mesh))), mesh));
  CHECK(same_triangles(read_mesh(folder.write("b.ply", test::binary_ply(mesh, ByteOrder::little))), mesh));
  CHECK(same_triangles(read_mesh(folder.write("c.ply", test::binary_ply(mesh, ByteOrder::big))), mesh));
  CHECK(same_triangles(read_mesh(folder.write("a.gltf", test::gltf_text(mesh))), mesh));
  CHECK(same_triangles(read_mesh(folder.write("a.GLB", test::glb(mesh))), mesh));
  folder.write("a buffer.bin", test::gltf_buffer(mesh));
  CHECK(same_triangles(read_mesh(folder.write("b.gltf", test::gltf_json(mesh, "\"a%20buffer.bin\""))), mesh));

  // An STL file knows no indices: the vertices come back merged, in the order in which the triangles name
  // them.
  for (const std::string& bytes : {test::ascii_stl(mesh), test::binary_stl(mesh)}) {
    const TriangleMesh merged = read_mesh(folder.write("a.stl", bytes));
    CHECK(merged.vertex_count() == mesh.vertex_count());
    REQUIRE(merged.triangle_count() == mesh.triangle_count());
    CHECK_NOTHROW(require_closed_surface(merged, "a.stl"));
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      for (int k = 0; k < 3; ++k) {
        CHECK(merged.vertices.col(merged.triangles[t][k]) == mesh.vertices.col(mesh.triangles[t][k]));
      }
    }
  }
}

TEST_CASE("mesh_io: reads what other programs write", "[engine][value]") {
  const test::TemporaryFolder folder;
  const double volume = 8.0;
  SECTION(
      "OBJ with quads, negative indices, continued lines, colours, carriage returns and no last line end") {
    const std::string text =
        "# cube\r\nmtllib none.mtl\r\ng cube\r\nusemtl grey\r\ns off\r\n"
        "v -1 -1 -1\r\nv 1 -1 -1 0.5 0.5 0.5\r\nv 1 1 -1 1.0\r\nv -1 +1 -1\r\nv -1 -1 1\r\nv 1 -1 1\r\nv 1 1 "
        "1.0e0\r\n"
        "v -1 1 1 # the last\r\n"
        "f 4 3 2 1\r\nf 5 6 7 8\r\nf 1 2 \\\r\n 6 5\r\nf -6 -5 -1 -2\r\nf 2 3 7 6\r\nf 4 1 5 8";
    const TriangleMesh mesh = read_mesh(folder.write("cube.obj", text));
    CHECK(mesh.vertex_count() == 8);
    CHECK(mesh.triangle_count() == 12);
    CHECK_NOTHROW(require_closed_surface(mesh, "cube"));
    CHECK(mass_properties(mesh, 1.0).volume == Approx(volume));
  }
  SECTION("PLY with quads, doubles, other properties and 'vertex_index'") {
    const std::string text =
        "ply\r\nformat ascii 1.0\r\nobj_info none\r\nelement vertex 8\r\nproperty double x\r\nproperty "
        "double y\r\n"
        "property double z\r\nproperty float nx\r\nelement face 6\r\nproperty uchar red\r\n"
        "property list uchar uint vertex_index\r\nend_header\r\n"
        "-1 -1 -1 nan\r\n1 -1 -1 0\r\n1 1 -1 0\r\n-1 1 -1 0\r\n-1 -1 1 0\r\n1 -1 1 0\r\n1 1 1 0\r\n-1 1 1 "
        "0\r\n"
        "9 4 3 2 1 0\r\n9 4 4 5 6 7\r\n9 4 0 1 5 4\r\n9 4 2 3 7 6\r\n9 4 1 2 6 5\r\n9 4 3 0 4 7\r\n\r\n";
    const TriangleMesh mesh = read_mesh(folder.write("cube.ply", text));
    CHECK(mesh.vertex_count() == 8);
    CHECK_NOTHROW(require_closed_surface(mesh, "cube"));
    CHECK(mass_properties(mesh, 1.0).volume == Approx(volume));
  }
  SECTION("STL of several solids, with colours, and one whose binary header says 'solid'") {
    const TriangleMesh mesh = example();
    const std::string text = test::ascii_stl(mesh);
    const TriangleMesh two = read_mesh(folder.write("two.stl", text + replaced(text, "solid part", "solid")));
    CHECK(two.triangle_count() == 2 * mesh.triangle_count());
    CHECK(two.vertex_count() == mesh.vertex_count());
    std::string bytes = test::binary_stl(mesh);
    bytes.replace(0, 10, "solid part");
    CHECK(read_mesh(folder.write("solid.stl", bytes)).triangle_count() == mesh.triangle_count());
    bytes.replace(0, 10, "COLOR=1234");
    bytes[84 + 49] = '\x80';
    CHECK(read_mesh(folder.write("colour.stl", bytes)).triangle_count() == mesh.triangle_count());
  }
}

TEST_CASE("mesh_io: nodes of a glTF file move, scale and mirror its meshes", "[engine][value]") {
  const test::TemporaryFolder folder;
  const TriangleMesh mesh = example();
  const double volume = mass_properties(mesh, 1.0).volume;
  const auto read = [&](const std::string& nodes) {
    return read_mesh(folder.write("a.gltf", replaced(test::gltf_text(mesh), R"("nodes": [{"mesh": 0}])",
                                                     "\"nodes\": [" + nodes + "]")));
  };
  // Two instances: one moved and turned about y, then scaled; one mirrored by the node above it.
  const TriangleMesh two = read(
      R"({"children": [1, 2]},
         {"mesh": 0, "translation": [1, 2, 3], "rotation": [0, 0.70710678, 0, 0.70710678], "scale": [2, 2, 3]},
         {"matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, -5, 1], "children": [3]}, {"mesh": 0})");
  REQUIRE(two.vertex_count() == 2 * mesh.vertex_count());
  REQUIRE(two.triangle_count() == 2 * mesh.triangle_count());
  double error = 0.0;
  for (int v = 0; v < mesh.vertex_count(); ++v) {
    const Vec3<double> x = mesh.vertices.col(v), first = two.vertices.col(v),
                       second = two.vertices.col(mesh.vertex_count() + v);
    error = std::max(error, (first - Vec3<double>(1 + 3 * x.z(), 2 + 2 * x.y(), 3 - 2 * x.x())).norm());
    error = std::max(error, (second - Vec3<double>(-x.x(), x.y(), x.z() - 5)).norm());
  }
  CHECK(error < 1e-7);
  CHECK(mass_properties(two, 1.0).volume == Approx(13 * volume));  // also of the mirrored one: it is turned
  CHECK_NOTHROW(require_closed_surface(two, "two"));
}

TEST_CASE("mesh_io: strips, fans, strides and small indices of glTF", "[engine][value]") {
  const test::TemporaryFolder folder;
  // A square of positions 16 bytes apart, then indices of 8 bits.
  std::string buffer;
  for (const auto& [x, y] : {std::pair(0.f, 0.f), {1.f, 0.f}, {0.f, 1.f}, {1.f, 1.f}}) {
    for (const float value : {x, y, 0.f, 99.f}) test::append_bytes(buffer, value);
  }
  buffer += std::string("\0\1\3\2", 4);
  const auto read = [&](const std::string& primitive) {
    return read_mesh(folder.write("a.glb", test::glb(R"({"asset": {"version": "2.0"}, "nodes": [{"mesh": 0}],
      "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, )" +
                                                         primitive + R"(}]}],
      "accessors": [{"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5121, "count": 4, "type": "SCALAR"}],
      "bufferViews": [{"buffer": 0, "byteLength": 64, "byteStride": 16},
        {"buffer": 0, "byteOffset": 64, "byteLength": 4}], "buffers": [{"byteLength": 68}]})",
                                                     buffer)));
  };
  using Triangles = std::vector<Eigen::Vector3i>;
  CHECK(read(R"("mode": 5)").triangles == Triangles{{0, 1, 2}, {1, 3, 2}});
  CHECK(read(R"("mode": 6, "indices": 1)").triangles == Triangles{{0, 1, 3}, {0, 3, 2}});
  const TriangleMesh one = read(R"("mode": 4)");
  CHECK(one.triangles == Triangles{{0, 1, 2}});
  CHECK(one.vertices.col(3) == Vec3<double>(1, 1, 0));
}

TEST_CASE("mesh_io: read_triangles takes faces that have a vertex twice", "[engine][value]") {
  const test::TemporaryFolder folder;
  TriangleMesh mesh = box_mesh({1, 1, 1}, 1);
  mesh.triangles[3][1] = mesh.triangles[3][0];
  TriangleMesh in_one_place = box_mesh({1, 1, 1}, 1);
  in_one_place.vertices.col(in_one_place.triangles[3][1]) =
      in_one_place.vertices.col(in_one_place.triangles[3][0]);
  for (const auto& [name, bytes] :
       std::vector<std::pair<std::string, std::string>>{{"a.obj", test::obj_text(mesh)},
                                                        {"a.ply", test::ascii_ply(mesh)},
                                                        {"a.stl", test::binary_stl(in_one_place)},
                                                        {"a.glb", test::glb(mesh)}}) {
    CAPTURE(name);
    const auto path = folder.write(name, bytes);
    CHECK_THROWS_AS(read_mesh(path), InputError);
    CHECK(read_triangles(path).triangle_count() == 12);
  }
}

TEST_CASE("mesh_io: a malformed file is rejected with file, element and cause", "[engine][value]") {
  const test::TemporaryFolder folder;
  const TriangleMesh mesh = box_mesh({1, 1, 1}, 1);  // 8 vertices, 12 triangles
  const std::string obj = test::obj_text(mesh), ply = test::ascii_ply(mesh), stl = test::ascii_stl(mesh);
  const std::string bin_ply = test::binary_ply(mesh, ByteOrder::little), bin_stl = test::binary_stl(mesh);
  const std::string gltf = test::gltf_text(mesh), glb = test::glb(mesh);
  const std::size_t ply_data = bin_ply.find("end_header\n") + 11;
  const auto with_float = [](std::string bytes, std::size_t at, float value) {
    std::memcpy(bytes.data() + at, &value, 4);
    return bytes;
  };
  const auto with_int = [](std::string bytes, std::size_t at, std::int32_t value) {
    std::memcpy(bytes.data() + at, &value, 4);
    return bytes;
  };
  const std::string garbage =
      "\x7f"
      "ELF\x02\x01\x01" +
      std::string(300, '\0') + "\xff\xfe";
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

  struct Case {
    std::string file, bytes;
    std::vector<std::string> parts;
  };
  const std::vector<Case> cases{
      {"empty.obj", "", {"empty"}},
      {"empty.ply", "", {"empty"}},
      {"empty.stl", "", {"empty"}},
      {"part.fbx", "{}", {"'.fbx'", "allowed: .obj, .ply, .stl, .gltf, .glb"}},
      {"noname", "v 0 0 0", {"allowed: .obj"}},
      // OBJ
      {"garbage.obj", garbage, {":1: unknown statement '\\x7fELF"}},
      {"comment.obj", "# nothing\n", {"no vertices"}},
      {"nofaces.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n", {"no faces"}},
      {"short.obj", replaced(obj, "v 1 -1 -1", "v 1 -1"), {":", "2 numbers", "x y z"}},
      {"word.obj", replaced(obj, "v 1 -1 -1", "v 1 one -1"), {"'one' is not a number"}},
      {"hex.obj", replaced(obj, "v 1 -1 -1", "v 0x1 -1 -1"), {"'0x1' is not a number"}},
      {"nan.obj", replaced(obj, "v 1 -1 -1", "v 1 nan -1"), {"'nan' is not finite"}},
      {"inf.obj", replaced(obj, "v 1 -1 -1", "v 1 -inf -1"), {"'-inf' is not finite"}},
      {"huge.obj", replaced(obj, "v 1 -1 -1", "v 1e999 -1 -1"), {"'1e999' is not a number"}},
      {"zero.obj", obj + "f 0 1 2\n", {":25: vertex 0 in a face", "counted from 1"}},
      {"index.obj", obj + "f 1 2 9\n", {":25: face with vertex 9, but the file has 8"}},
      {"back.obj", obj + "f -9 1 2\n", {":25: face with vertex '-9', which is not there"}},
      {"big.obj", obj + "f 1 2 99999999999999999999\n", {":25: '99999999999999999999' is not a vertex"}},
      {"large.obj", obj + "f 1 2 4294967297\n", {":25:", "'4294967297'", "not there"}},
      {"slashes.obj", obj + "f 1/2/3/4 2 3\n", {":25: '1/2/3/4' is not a vertex of a face"}},
      {"letters.obj", obj + "f a b c\n", {":25: 'a' is not a vertex of a face"}},
      {"edge.obj", obj + "f 1 2\n", {":25: a face with 2 vertices"}},
      {"twice.obj", obj + "f 1 2 1\n", {":25: a face that has a vertex twice"}},
      {"bowtie.obj", obj + "f 1 2 3 2\n", {":25: a face that has a vertex twice"}},
      {"unknown.obj", obj + "curv 0 1\n", {":25: unknown statement 'curv'", "allowed: v, f"}},
      {"cut.obj", obj.substr(0, obj.size() - 5), {":24: a face with 2 vertices"}},
      // PLY
      {"garbage.ply", garbage, {":1: a PLY file begins with the line 'ply'"}},
      {"header.ply", ply.substr(0, 60), {"ends within the header"}},
      {"noformat.ply", replaced(ply, "format ascii 1.0\n", ""), {"no line 'format'"}},
      {"format.ply",
       replaced(ply, "ascii", "binary"),
       {":2:", "'format binary 1.0'", "binary_little_endian"}},
      {"version.ply", replaced(ply, " 1.0", " 2.0"), {":2:", "'format ascii 2.0'"}},
      {"type.ply", replaced(ply, "float y", "real y"), {":6: unknown type 'real'"}},
      {"coordinate.ply",
       replaced(ply, "property float z\n", ""),
       {":4: element 'vertex' has no property 'z'"}},
      {"intcoordinate.ply", replaced(ply, "float x", "int x"), {"no property 'x' of type float or double"}},
      {"again.ply", replaced(ply, "float z", "float y"), {":7: property 'y' twice"}},
      {"nolist.ply",
       replaced(ply, "list uchar int vertex_indices", "int vertex_indices"),
       {":10:", "the one list"}},
      {"otherlist.ply",
       replaced(ply, "vertex_indices", "texcoord"),
       {":10: property 'texcoord'", "the one list"}},
      {"floatlist.ply", replaced(ply, "list uchar int", "list float int"), {":10:", "whole numbers"}},
      {"strips.ply",
       replaced(ply, "element face", "element tristrips"),
       {":9: element 'tristrips'", "'face' second"}},
      {"order.ply",
       replaced(ply, "element vertex", "element face"),
       {":4: element 'face'", "'vertex' first"}},
      {"negative.ply",
       replaced(ply, "element vertex 8", "element vertex -8"),
       {":4:", "'element NAME COUNT'"}},
      {"bomb.ply", replaced(ply, "element vertex 8", "element vertex 4000000000"), {":4:", "count at most"}},
      {"more.ply", replaced(ply, "element vertex 8", "element vertex 9"), {":32: face 11 has fewer numbers"}},
      {"fewer.ply", replaced(ply, "element face 12", "element face 11"), {"bytes after the last element"}},
      {"zero.ply", replaced(ply, "element face 12", "element face 0"), {":9: no elements 'face'"}},
      {"unknown.ply", replaced(ply, "comment", "komment"), {":3: unknown statement 'komment'"}},
      {"nan.ply",
       replaced(ply, "\n1 -1 -1 200", "\nnan -1 -1 200"),
       {"vertex", "x = nan, which is not finite"}},
      {"float.ply", replaced(ply, "\n1 -1 -1 200", "\n1e39 -1 -1 200"), {"x = 1e+39, which is not finite"}},
      {"word.ply", replaced(ply, "\n1 -1 -1 200", "\none -1 -1 200"), {"'one', which is not a number"}},
      {"columns.ply", replaced(ply, "1 -1 -1 200", "1 -1 -1 200 7"), {"more numbers than the header says"}},
      {"cut.ply", ply.substr(0, ply.size() - 4), {":31: face 11 has fewer numbers"}},
      {"edge.ply", replaced(ply, "\n3 ", "\n2 "), {":20: face 0 has 2 vertices"}},
      {"index.ply", replaced(ply, "\n3 0 ", "\n3 8 "), {"face 0 has vertex 8, allowed: 0 to 7"}},
      {"minus.ply", replaced(ply, "\n3 0 ", "\n3 -1 "), {"face 0 has vertex -1, allowed: 0 to 7"}},
      {"twice.ply", replaced(ply, "\n3 0 ", "\n4 0 0 "), {"face 0 has a vertex twice"}},
      {"cutbinary.ply", bin_ply.substr(0, bin_ply.size() - 1), {"face 11 is cut off"}},
      {"cutvertices.ply", bin_ply.substr(0, ply_data + 20), {"vertex 1 is cut off"}},
      {"longbinary.ply", bin_ply + "xy", {"2 bytes after the last element"}},
      {"nanbinary.ply", with_float(bin_ply, ply_data + 13, nan), {"vertex 1 has x = nan"}},
      {"indexbinary.ply",
       with_int(bin_ply, ply_data + 8 * 13 + 1, 1 << 30),
       {"face 0 has vertex 1073741824"}},
      {"minusbinary.ply", with_int(bin_ply, ply_data + 8 * 13 + 1, -5), {"face 0 has vertex -5"}},
      // STL
      {"garbage.stl", garbage, {"does not begin with 'solid'"}},
      {"tiny.stl", "solid", {"ends where 'facet' or 'endsolid'"}},
      {"none.stl", "solid x\nendsolid x\n", {"no triangles"}},
      {"short.stl", "facet", {"5 bytes are too few"}},
      {"cutbinary.stl",
       bin_stl.substr(0, bin_stl.size() - 1),
       {"12 triangles", "hence 684 bytes", "has 683"}},
      {"bomb.stl", with_int(bin_stl, 80, -1), {"4294967295 triangles"}},
      {"nonebinary.stl", with_int(bin_stl.substr(0, 84), 80, 0), {"no triangles"}},
      {"nanbinary.stl", with_float(bin_stl, 84 + 50 + 12, nan), {"triangle 1", "nan, which is not finite"}},
      {"infbinary.stl", with_float(bin_stl, 84 + 44, -inf), {"triangle 0", "-inf, which is not finite"}},
      {"cut.stl", stl.substr(0, stl.find("endloop")), {":7: the file ends where 'endloop' is expected"}},
      {"cutvertex.stl",
       stl.substr(0, stl.find('\n', stl.find("vertex")) - 2),
       {":4: the file ends within a vertex"}},
      {"word.stl", replaced(stl, "outer loop", "outer lop"), {":3: 'lop' where 'loop' is expected"}},
      {"nan.stl", replaced(stl, "vertex ", "vertex nan "), {":4: coordinate 'nan' is not finite"}},
      {"float.stl", replaced(stl, "vertex ", "vertex 1e39 "), {":4: coordinate '1e39' is not finite"}},
      {"number.stl", replaced(stl, "vertex ", "vertex x"), {":4: 'x", "is not a number"}},
      {"tail.stl", stl + "more\n", {":87: 'more' where 'solid' is expected"}},
      // glTF
      {"garbage.gltf", garbage, {"is no glTF file"}},
      {"garbage.glb", garbage, {"is no glTF file"}},
      {"object.gltf", "[]", {"the file is not an object"}},
      {"asset.gltf", "{}", {"the file has no 'asset'"}},
      {"version.gltf", replaced(gltf, "2.0", "1.0"), {"no version 2"}},
      {"version.glb", with_int(glb, 4, 1), {"of version 1"}},
      {"short.glb", glb.substr(0, 15), {"cut off within its header"}},
      {"cut.glb", glb.substr(0, glb.size() - 1), {"chunk 1 is cut off"}},
      {"chunk.glb", with_int(glb, 16, 7), {"first chunk is not JSON"}},
      {"scene.gltf", replaced(gltf, "\"scene\": 0", "\"scene\": 1"), {"element 1 of 'scenes', which has 1"}},
      {"node.gltf", replaced(gltf, "[0]", "[3]"), {"element 3 of 'nodes', which has 1"}},
      {"mesh.gltf",
       replaced(gltf, "\"mesh\": 0", "\"mesh\": -1"),
       {"node 0, mesh: -1 is not a whole number"}},
      {"nothing.gltf", replaced(gltf, "\"mesh\": 0", "\"name\": 0"), {"no triangles in its scene"}},
      {"points.gltf", replaced(gltf, "\"mode\": 4", "\"mode\": 0"), {"no triangles in its scene"}},
      {"mode.gltf", replaced(gltf, "\"mode\": 4", "\"mode\": 7"), {"mesh 0, primitive 0: mode is 7"}},
      {"cycle.gltf",
       replaced(gltf, "\"mesh\": 0", "\"mesh\": 0, \"children\": [0]"),
       {"node 0 has two nodes above it"}},
      {"matrix.gltf",
       replaced(gltf, "\"mesh\": 0", "\"mesh\": 0, \"matrix\": [1]"),
       {"node 0, matrix: not 16 numbers"}},
      {"rotation.gltf",
       replaced(gltf, "\"mesh\": 0", "\"mesh\": 0, \"rotation\": [1, 1, 0, 0]"),
       {"node 0, rotation: not a unit quaternion"}},
      {"type.gltf",
       replaced(gltf, "VEC3", "VEC2"),
       {"accessor 0 (mesh 0, primitive 0, POSITION): type is not VEC3"}},
      {"component.gltf", replaced(gltf, "5126", "5123"), {"componentType 5123 is not supported"}},
      {"count.gltf", replaced(gltf, "\"count\": 8", "\"count\": 9"), {"accessor 0", "beyond its bufferView"}},
      {"many.gltf",
       replaced(gltf, "\"count\": 8", "\"count\": 4000000000"),
       {"count 4000000000 is too large"}},
      {"view.gltf",
       replaced(gltf, "\"byteLength\": 144", "\"byteLength\": 150"),
       {"bufferView 1 lies beyond its buffer"}},
      {"length.gltf",
       replaced(gltf, "\"byteLength\": 240", "\"byteLength\": 250"),
       {"buffer 0 has 240 bytes, but byteLength is 250"}},
      {"base64.gltf", replaced(gltf, "base64,", "base64,!"), {"buffer 0 is not in base64"}},
      {"gone.gltf", test::gltf_json(mesh, "\"gone.bin\""), {"buffer 0: ", "gone.bin", "no such file"}},
      {"out.gltf", test::gltf_json(mesh, "\"../secret\""), {"buffer 0 is at '../secret', outside"}},
      {"index.glb",
       with_int(glb, glb.size() - 4, 8),
       {"primitive 0: index 35 is 8, but there are 8 vertices"}},
      {"nan.glb", with_float(glb, glb.size() - 240, nan), {"primitive 0: vertex 0 is not finite"}},
      {"twice.glb",
       with_int(glb, glb.size() - 4, mesh.triangles.back()[0]),
       {"triangle 11 has a vertex twice"}},
  };
  for (const Case& c : cases) {
    const auto path = folder.write(c.file, c.bytes);
    const std::string message = test::rejection([&] { return read_mesh(path); });
    CAPTURE(c.file, message);
    CHECK(message.starts_with(path.string() + ":"));
    CHECK(test::missing_part(message, c.parts) == "");
  }
  // Two corners at one place become one vertex, and the triangle degenerate.
  TriangleMesh sliver = mesh;
  sliver.vertices.col(sliver.triangles[3][1]) = sliver.vertices.col(sliver.triangles[3][0]);
  const auto path = folder.write("sliver.stl", test::binary_stl(sliver));
  CHECK(test::missing_part(test::rejection([&] { return read_mesh(path); }),
                           {"sliver.stl", "two equal corners"}) == "");

  CHECK(test::missing_part(test::rejection([&] { return read_mesh(folder.path() / "no.obj"); }),
                           {"no.obj", "no such file"}) == "");
  std::filesystem::create_directory(folder.path() / "folder.obj");
  CHECK(test::missing_part(test::rejection([&] { return read_mesh(folder.path() / "folder.obj"); }),
                           {"folder.obj", "is a folder"}) == "");
  CHECK(cases.size() >= 60);
}

TEST_CASE("mesh_io: no mutation of a file makes it crash or lets an invalid mesh through",
          "[engine][property]") {
  const test::TemporaryFolder folder;
  const TriangleMesh mesh = box_mesh({1, 1, 1}, 1);
  struct Format {
    std::string file, bytes;
  };
  const std::vector<Format> formats{{"m.obj", test::obj_text(mesh)},
                                    {"m.ply", test::ascii_ply(mesh)},
                                    {"m.ply", test::binary_ply(mesh, ByteOrder::little)},
                                    {"m.ply", test::binary_ply(mesh, ByteOrder::big)},
                                    {"m.stl", test::ascii_stl(mesh)},
                                    {"m.stl", test::binary_stl(mesh)},
                                    {"m.gltf", test::gltf_text(mesh)},
                                    {"m.glb", test::glb(mesh)}};
  // ABUT_FUZZ_ROUNDS makes the same test a long one.
  const char* rounds_text = std::getenv("ABUT_FUZZ_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 1000;
  for (std::size_t f = 0; f < formats.size(); ++f) {
    const std::uint64_t seed = 100 + f;
    Random random(seed);
    int accepted = 0;
    for (int i = 0; i < rounds; ++i) {
      const std::string bytes = test::mutated(formats[f].bytes, random);
      const auto path = folder.write(formats[f].file, bytes);
      CAPTURE(seed, i, formats[f].file);
      try {
        const TriangleMesh result = read_mesh(path);
        ++accepted;
        REQUIRE(result.vertices.allFinite());
        REQUIRE(result.triangle_count() > 0);
        for (const Eigen::Vector3i& t : result.triangles) {
          REQUIRE(t.minCoeff() >= 0);
          REQUIRE(t.maxCoeff() < result.vertex_count());
          REQUIRE((t[0] != t[1] && t[1] != t[2] && t[2] != t[0]));
        }
      } catch (const InputError& error) {
        REQUIRE(std::string(error.what()).starts_with(path.string() + ":"));
      }
    }
    CHECK(accepted < rounds);
  }
}
