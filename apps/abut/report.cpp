#include "apps/abut/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include <spdlog/fmt/fmt.h>

namespace abut {

std::string failure_text(const Model& model, const StepConfig& config, int step, double time,
                         const StepReport& report) {
  const auto name = [&](int body) { return model.bodies[static_cast<std::size_t>(body)].name; };
  std::string text = fmt::format("step {} (to t = {:.6g} s) failed: ", step + 1, time);
  if (report.status == StepStatus::non_finite) {
    text += "the state is no longer finite";
  } else if (!std::isfinite(report.residual)) {
    text += "not converged, forces or velocities are too large for double precision";
  } else {
    text += fmt::format("not converged, relative residual {:.2e} after {} Newton iterations, allowed: {:.2e}",
                        report.residual, report.iterations, config.tolerance);
  }
  if (report.body < 0) return text;
  text += fmt::format("; body '{}'", name(report.body));
  const ContactFeature& contact = report.contact;
  if (contact.body_A < 0 || contact.body_B < 0) return text + ", which touches nothing";
  const bool A_has_point = contact.feature_A >= 0;
  const int other = report.body == contact.body_A ? contact.body_B : contact.body_A;
  return text + fmt::format(", deepest contact with '{}' at contact point {} of '{}'", name(other),
                            A_has_point ? contact.feature_A : contact.feature_B,
                            name(A_has_point ? contact.body_A : contact.body_B));
}

std::string Table::text(std::size_t left) const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::string line;
    for (std::size_t i = 0; i < rows_[r].size(); ++i) {
      line += i < left ? fmt::format("  {:<{}}", rows_[r][i], widths[i])
                       : fmt::format("  {:>{}}", rows_[r][i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    if (r > 0) continue;
    std::size_t width = 2 * (widths.size() - 1);
    for (const std::size_t w : widths) width += w;
    text += "  " + std::string(width, '-') + '\n';
  }
  return text;
}

Json json_of(const Vec3<double>& v) { return Json::array({v.x(), v.y(), v.z()}); }

void print_json(const Json& json) {
  fmt::print("{}\n", json.dump(2, ' ', false, Json::error_handler_t::replace));
}

}  // namespace abut
