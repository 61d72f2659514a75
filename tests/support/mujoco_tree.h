/// Trees in MuJoCo, for programs that have its headers and library.
#pragma once

#include <mujoco/mujoco.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "tests/support/mjcf.h"
#include "tests/support/temporary_folder.h"

namespace abut::test {

struct MujocoTree {
  std::unique_ptr<mjModel, decltype(&mj_deleteModel)> model{nullptr, mj_deleteModel};
  std::unique_ptr<mjData, decltype(&mj_deleteData)> data{nullptr, mj_deleteData};

  /// Throws std::runtime_error with MuJoCo's message for a tree that it cannot have.
  explicit MujocoTree(const TreeCase& c, double h = 2e-3) {
    const TemporaryFolder folder;
    const std::string path = folder.write("tree.xml", mjcf(c, h)).string();
    char error[1000] = "";
    model.reset(mj_loadXML(path.c_str(), nullptr, error, sizeof error));
    if (!model) throw std::runtime_error(error);
    data.reset(mj_makeData(model.get()));
  }
};

}  // namespace abut::test
