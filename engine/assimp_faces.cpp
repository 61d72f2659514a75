#include "engine/assimp_faces.h"

#include <cmath>
#include <utility>

#include <assimp/mesh.h>
#include <assimp/scene.h>
#include <spdlog/fmt/fmt.h>
#include <assimp/Importer.hpp>

namespace abut::mesh_files {

ImportedFaces import_with_assimp(const Source& source, std::string_view bytes, const char* format) {
  Assimp::Importer importer;
  const aiScene* scene = importer.ReadFileFromMemory(bytes.data(), bytes.size(), 0, format);
  if (scene == nullptr)
    source.fail(fmt::format("cannot be imported: {}", quoted(importer.GetErrorString(), 200)));

  ImportedFaces result;
  for (unsigned m = 0; m < scene->mNumMeshes; ++m) {
    const aiMesh& part = *scene->mMeshes[m];
    if (part.mNumVertices == 0 || part.mVertices == nullptr ||
        (part.mNumFaces > 0 && part.mFaces == nullptr)) {
      source.fail("was imported without vertices");
    }
    const std::size_t first = result.vertices.size();
    for (unsigned i = 0; i < part.mNumVertices; ++i) {
      const aiVector3D& p = part.mVertices[i];
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !std::isfinite(p.z)) {
        source.fail(fmt::format("vertex {} is not finite", first + i));
      }
      result.vertices.push_back({p.x, p.y, p.z});
    }
    for (unsigned f = 0; f < part.mNumFaces; ++f) {
      const aiFace& face = part.mFaces[f];
      std::vector<int> polygon;
      for (unsigned k = 0; k < face.mNumIndices; ++k) {
        if (face.mIndices[k] >= part.mNumVertices) {
          source.fail(fmt::format("face {} has vertex {}, but there are {} vertices", result.faces.size(),
                                  face.mIndices[k], part.mNumVertices));
        }
        polygon.push_back(static_cast<int>(first + face.mIndices[k]));
      }
      result.faces.push_back(std::move(polygon));
    }
  }
  return result;
}

void require_counts(const Source& source, const ImportedFaces& imported, std::size_t vertices,
                    std::size_t faces) {
  if (imported.vertices.size() != vertices || imported.faces.size() != faces) {
    source.fail(fmt::format("has {} vertices and {} faces, but {} and {} were imported", vertices, faces,
                            imported.vertices.size(), imported.faces.size()));
  }
}

}  // namespace abut::mesh_files
