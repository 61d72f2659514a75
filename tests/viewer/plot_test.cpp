#include <catch2/catch.hpp>

#include "tests/viewer/panel_desk.h"

namespace abut::viewer {

TEST_CASE("plot: draws curves that are empty, constant, broken, of one sample, or of no positive value",
          "[viewer][value]") {
  Desk desk(scene_file("box_slide"));
  const float none = std::numeric_limits<float>::quiet_NaN(), huge = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> curves{{},
                                               {1.0f},
                                               {2.0f, 2.0f, 2.0f},
                                               {none, none},
                                               {1.0f, none, 3.0f, huge, 2.0f},
                                               {-1.0f, 0.0f, -2.0f},
                                               {1e-30f, 1e30f},
                                               {1e-38f, 3.0f, 0.0f}};
  for (const bool logarithmic : {false, true}) {
    for (const auto& y : curves) {
      std::vector<float> x;
      for (std::size_t i = 0; i < y.size(); ++i) x.push_back(0.1f * static_cast<float>(i));
      ImGui::NewFrame();
      ImGui::SetNextWindowSize({k_width, 400.0f});
      ImGui::Begin("plots");
      PlotOptions options{"Title", "m"};
      options.logarithmic = logarithmic;
      options.cursor = 0.1;
      plot("curve", x, y, options);
      ImGui::End();
      ImGui::Render();
      const ImDrawList& list = *ImGui::GetDrawData()->CmdLists[0];
      CHECK(list.VtxBuffer.Size > 20);
      for (const ImDrawVert& vertex : list.VtxBuffer) {
        CHECK(std::isfinite(vertex.pos.x));
        CHECK(std::isfinite(vertex.pos.y));
      }
    }
  }
}

}  // namespace abut::viewer
