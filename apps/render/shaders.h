/// Parts that shaders have in common.
///
/// Colours come and go as a screen has them (sRGB); light is added up in between, in linear light. Positions
/// and normals are those seen by the camera: x to the right, y upwards, z towards the eye.
#pragma once

#include <string>

namespace abut::shaders {

inline const std::string k_version = "#version 330 core\n";

/// One triangle that is larger than the picture, behind everything.
inline const std::string k_whole_picture_vertex = k_version + R"(
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 1.0, 1.0);
}
)";

inline const std::string k_colour_space = R"(
vec3 to_linear(vec3 c) {
  return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
}
vec3 to_screen(vec3 c) {
  c = clamp(c, 0.0, 1.0);
  return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}
)";

/// A key light that stands still in the world, a sky above a darker ground, and a weak light at the camera,
/// so that no side is black.
inline const std::string k_light = k_colour_space + R"(
uniform vec3 up, to_key;  // of the world, of unit length

const float k_key = 0.64, k_at_camera = 0.16;

vec3 from_sky(vec3 normal) {
  return mix(vec3(0.25, 0.24, 0.23), vec3(0.38, 0.40, 0.42), 0.5 + 0.5 * dot(normal, up));
}

// `seen_by_key` is 0 in the shadow, `calm` takes contrast away, where the colour itself is the message.
vec3 lit(vec3 albedo, vec3 normal, vec3 to_eye, float seen_by_key, float calm) {
  float key = seen_by_key * max(0.0, dot(normal, to_key)), facing = max(0.0, dot(normal, to_eye));
  vec3 light = from_sky(normal) + k_key * key + k_at_camera * facing;
  light = mix(light, vec3(0.55 + 0.25 * facing + 0.2 * key), calm);
  float gloss = max(0.0, dot(normal, normalize(to_key + to_eye)));
  for (int i = 0; i < 5; ++i) gloss *= gloss;  // to the power of 32: pow() takes long in software
  return albedo * light + 0.09 * (1.0 - calm) * seen_by_key * gloss;
}
)";

/// In place of k_shadow where there are no shadows.
inline const std::string k_no_shadow = "float seen_by_key(vec3 position, vec3 normal) { return 1.0; }\n";

/// How much of the key light reaches a point, by a map of depths as the light sees them: the mean of
/// comparisons over a disc that is as wide as the penumbra, after those that shade it have been looked for.
/// @see  Fernando (2005), "Percentage-closer soft shadows".
inline const std::string k_shadow = R"(
uniform mat4 shadow_from_camera;     // to [0, 1] x [0, 1] x [0, 1], the depth along the rays
uniform float shadow_cell;           // of the map [m]
uniform float shadow_width;          // of the map [m]
uniform float shadow_depth;          // of its range of depths [m]
uniform sampler2DShadow shadow_map;
uniform sampler2D shadow_depths;     // the same

const float k_light_slope = 0.10;    // half the angle at which the light is seen [rad]
const float k_widest = 0.02;         // radius of a penumbra, of the map's width

vec2 on_disc(int i, int count) {
  float radius = sqrt((float(i) + 0.5) / float(count)), angle = 2.3999632 * float(i);  // golden
  return radius * vec2(cos(angle), sin(angle));
}

float seen_by_key(vec3 position, vec3 normal) {
  // From a little above the surface, which would shade itself between the cells of the map.
  vec3 at = (shadow_from_camera * vec4(position + 1.5 * shadow_cell * normal, 1.0)).xyz;
  bool inside = all(greaterThan(at, vec3(0.0))) && all(lessThan(at, vec3(1.0)));
  const int k_searched = 9, k_compared = 24;
  // As wide as the penumbra of something at the map's upper end.
  float cell = shadow_cell / shadow_width, most = k_light_slope * at.z * shadow_depth / shadow_width;
  float search = clamp(most, 2.0 * cell, k_widest);
  float sum = 0.0, found = 0.0;
  for (int i = 0; i < (inside ? k_searched : 0); ++i) {  // software renderers skip loops, not branches
    float depth = texture(shadow_depths, at.xy + search * on_disc(i, k_searched)).r;
    if (depth < at.z) {
      sum += depth;
      found += 1.0;
    }
  }
  float penumbra = (at.z - sum / max(found, 1.0)) * shadow_depth * k_light_slope / shadow_width;
  float radius = clamp(penumbra, 1.2 * cell, search), hidden = 0.0;
  for (int i = 0; i < (found > 0.0 ? k_compared : 0); ++i)
    hidden += 1.0 - texture(shadow_map, vec3(at.xy + radius * on_disc(i, k_compared), at.z));
  return 1.0 - hidden / float(k_compared);
}
)";

/// The background in the direction that a pixel looks in: from the ground over the horizon to the sky.
inline const std::string k_background = R"(
uniform vec4 sky, horizon, ground;
uniform vec2 picture_size;  // [pixels]
uniform vec2 slope;         // of rays to the right and upper border
uniform vec3 world_up;

// A few levels over hundreds of rows would be stripes, but for an even noise of less than a level.
vec3 background() {
  float noise = fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715)))) - 0.5;
  vec2 place = 2.0 * gl_FragCoord.xy / picture_size - 1.0;
  float height = dot(normalize(vec3(place * slope, -1.0)), world_up);
  float left = 1.0 - abs(height), third = left * left * left;
  vec3 colour = height > 0.0 ? mix(sky.rgb, horizon.rgb, third) : mix(ground.rgb, horizon.rgb, third * third);
  return colour + noise / 255.0;
}
)";

/// Places of pixels, seen by the camera, from their depths.
inline const std::string k_places = R"(
uniform sampler2D depths;
uniform vec4 depth_terms;     // clip z = terms.x z + terms.y, clip w = terms.z z + terms.w
uniform vec2 clip_per_metre;  // clip x, clip y = that times x, y

float raw_depth(ivec2 at) { return texelFetch(depths, clamp(at, ivec2(0), textureSize(depths, 0) - 1), 0).r; }

vec3 place_of(vec2 at, float depth) {
  float n = 2.0 * depth - 1.0;
  float z = (depth_terms.y - depth_terms.w * n) / (depth_terms.z * n - depth_terms.x);
  vec2 clip = 2.0 * at / vec2(textureSize(depths, 0)) - 1.0;
  return vec3(clip * (depth_terms.z * z + depth_terms.w) / clip_per_metre, z);
}
)";

}  // namespace abut::shaders
