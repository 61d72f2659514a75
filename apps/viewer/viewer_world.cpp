/// The viewer's pictures of the world: one, or two side by side, each with its lens.
#include <algorithm>
#include <cmath>
#include <utility>

#include <imgui.h>

#include "apps/viewer/viewer.h"

namespace abut::viewer {

Vec2<double> Viewer::ScenePlace::on_screen(const Vec3<double>& p_W) const {
  const Vec3<double> p = camera.project(p_W, std::max(1.0f, area.width) / std::max(1.0f, area.height));
  if (!(p.z() > 0.0)) return Vec2<double>::Constant(-1e6);
  return {area.x + 0.5 * (1.0 + p.x()) * area.width, area.y + 0.5 * (1.0 - p.y()) * area.height};
}

GlyphScale Viewer::picture_scale() const {
  return {camera, std::max(1, static_cast<int>(std::lround(scene().height / text_scale_)))};
}

Viewport Viewer::viewport_of(const Rectangle& area) const {
  const ImGuiIO& io = ImGui::GetIO();
  const auto pixels = [](float points, float per_point) {
    return static_cast<int>(std::lround(points * per_point));
  };
  const ImVec2 per_point = io.DisplayFramebufferScale;
  const int left = pixels(area.x, per_point.x), right = pixels(area.x + area.width, per_point.x),
            bottom = pixels(io.DisplaySize.y - area.y - area.height, per_point.y),
            top = pixels(io.DisplaySize.y - area.y, per_point.y);
  return {left, bottom, right - left, top - bottom};
}

void Viewer::draw_half(const ContactSet& set, const Rectangle& area, unsigned framebuffer) {
  const GradientResult* gradient = gradients.result ? &*gradients.result : nullptr;
  const GlyphScale scale = picture_scale();
  PictureMaker::Made made = pictures_.make(*frame_, set, display, selection, gradient, scale);
  made.picture.look = display.look;
  renderer_.draw(made.picture, viewport_of(area), framebuffer);
  if (halves_.empty()) counts_ = made.counts;
  SceneHalf half{{area, camera}, std::move(made.notes)};
  if (display.lens) draw_lens(set, half, framebuffer);
  halves_.push_back(std::move(half));
}

void Viewer::draw_lens(const ContactSet& set, SceneHalf& half, unsigned framebuffer) {
  const Rectangle area = lens_area(half.place.area, static_cast<float>(text_scale_));
  const double points = area.height / text_scale_;
  half.lens = lens_on(*frame_, set, display.contacts, selection, picture_scale(), points, lens_zoom_);
  if (!half.lens) return;
  half.lens_place = {area, half.lens->camera};
  DisplayOptions inside = display;
  inside.translucent = true;
  inside.slice.shown = false;
  const GlyphScale scale{half.lens->camera, std::max(1, static_cast<int>(std::lround(points)))};
  PictureMaker::Made made =
      pictures_.make(*frame_, {half.lens->contacts, half.lens->other_forces, set.candidates}, inside,
                     selection, nullptr, scale);
  made.picture.look = display.look;
  renderer_.draw(made.picture, viewport_of(area), framebuffer);
  half.lens_arrows = std::move(made.notes.arrows);
}

void Viewer::draw_world(unsigned framebuffer) {
  halves_.clear();
  Rectangle area = scene();
  if (!display.side_by_side) return draw_half(visible_.set(), area, framebuffer);
  const auto half = static_cast<float>(picture_width());
  area.width = half;
  draw_half(visible_.set(), area, framebuffer);
  area.x += half;
  area.width = scene().width - half;
  draw_half(visible_.without_edges(), area, framebuffer);
}

}  // namespace abut::viewer
