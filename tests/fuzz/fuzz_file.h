/// The bytes under test as a file, which is what readers take.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/input_error.h"
#include "tests/support/temporary_folder.h"

namespace abut::fuzz {

/// A file in a temporary copy of the layout of assets/: paths to bodies, scenes and experiments in it lead to
/// those of the repository.
class FuzzFile {
 public:
  /// @param folder  one of assets/, where files of this kind lie
  FuzzFile(const std::string& folder, const std::string& name) : path_(folder_.path() / folder / name) {
    namespace fs = std::filesystem;
    for (const char* asset : {"bodies", "experiments", "scenes"}) {
      const fs::path from = fs::path(ABUT_SOURCE_DIR) / "assets" / asset, to = folder_.path() / asset;
      if (asset != folder) {
        fs::create_directory_symlink(from, to);
        continue;
      }
      fs::create_directory(to);
      for (const fs::directory_entry& entry : fs::directory_iterator(from))
        fs::create_symlink(entry.path(), to / entry.path().filename());
    }
    fs::create_directories(path_.parent_path());
  }

  /// Puts a link to one of the assets beside the file.
  bool link(const std::string& name, const std::string& asset) const {
    std::filesystem::create_symlink(std::filesystem::path(ABUT_SOURCE_DIR) / "assets" / asset,
                                    path_.parent_path() / name);
    return true;
  }

  /// Writes the bytes and calls use(path). Bad input may be refused in the way that users see as a message:
  /// any other exception ends the program, as a crash does.
  template <typename Use>
  int try_to(const std::uint8_t* bytes, std::size_t size, const Use& use) const {
    return try_to(std::string_view(reinterpret_cast<const char*>(bytes), size), use);
  }
  template <typename Use>
  int try_to(std::string_view bytes, const Use& use) const {
    try {
      std::ofstream(path_, std::ios::binary) << bytes;
      use(path_);
    } catch (const InputError&) {
    } catch (const std::invalid_argument&) {
    }
    return 0;
  }

 private:
  test::TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace abut::fuzz
