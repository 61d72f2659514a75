/// Body assets: a folder with a body.toml and, mostly, a mesh.obj. Every key: docs/scene_format.md.
#pragma once

#include <filesystem>
#include <string>

#include "engine/body_builder.h"
#include "engine/coloured_mesh.h"
#include "engine/model.h"
#include "engine/shape_surface.h"

namespace abut {

class TomlTable;

/// Reads a body asset from its folder, or from the path of its body.toml. A body that gives neither a mesh
/// nor what would be computed from it gets a surface from `make_surface`; without that it is an error. Throws
/// InputError: "file:line: what is wrong".
[[nodiscard]] Body read_body(const std::filesystem::path& path, const SurfaceMaker& make_surface = {});

/// Writes body.toml and, if the body has a mesh, mesh.obj into the folder, made if need be. Each file appears
/// whole or not at all. What is written reads back as the same body, up to the rounding of its shift to the
/// centre of mass; what belongs to a scene (fixed, damping, external wrench) is not part of an asset.
/// `comment`, of any number of lines, is put on top of body.toml: how the asset was made. The visual mesh
/// stays the file that it is; but `visual`, in the asset's frame, is written as visual.obj in its place.
void write_body(const std::filesystem::path& folder, const Body& body, const std::string& comment = {},
                const ColouredMesh* visual = nullptr);

/// What scenes and assets have in common: reads the keys of shape, mesh, mass and contact points, and makes
/// the body. Paths are relative to the folder of the table's file.
[[nodiscard]] Body read_body_keys(const TomlTable& table, const std::string& name, const Material& material,
                                  bool fixed, const SurfaceMaker& make_surface = {});

/// Reads friction, stiffness, dissipation_time and restitution; what is left out stays as in `material`.
[[nodiscard]] Material read_material_keys(const TomlTable& table, const Material& material);

/// Reads `color` and `visual`, which has to name a mesh file that is there but is not opened; what is left
/// out stays as in `appearance`.
[[nodiscard]] Appearance read_appearance_keys(const TomlTable& table, const Appearance& appearance);

/// Reads `selected_vertices` and `selected_edges`, where they are there, into the body.
void read_selection_keys(const TomlTable& table, Body& body);

}  // namespace abut
