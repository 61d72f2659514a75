/// Parts that shaders have in common.
///
/// Colours come and go as a screen has them (sRGB); light is added up in between, in linear light. Positions
/// and normals are those seen by the camera: x to the right, y upwards, z towards the eye.
#pragma once

#include <string>

namespace abut::shaders {

inline const std::string k_version = "#version 330 core\n";

inline const std::string k_light = R"(
uniform vec3 up;          // of the world

vec3 to_linear(vec3 c) {
  return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c));
}
vec3 to_screen(vec3 c) {
  c = clamp(c, 0.0, 1.0);
  return mix(12.92 * c, 1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c));
}

// A key light over the camera's left shoulder, which wraps around a little, and the sky above a darker ground.
// `calm` takes contrast away, where the colour itself is the message.
vec3 lit(vec3 albedo, vec3 normal, vec3 to_eye, float calm) {
  const vec3 to_key = normalize(vec3(-0.42, 0.62, 0.66));
  float key = max(0.0, (dot(normal, to_key) + 0.18) / 1.18);
  float sky = 0.5 + 0.5 * dot(normal, up);
  vec3 ambient = mix(vec3(0.19, 0.18, 0.17), vec3(0.31, 0.33, 0.36), sky);
  vec3 light = mix(ambient + 0.66 * key, vec3(0.62 + 0.38 * key), calm);
  float gloss = pow(max(0.0, dot(normal, normalize(to_key + to_eye))), 40.0);
  return albedo * light + 0.10 * (1.0 - calm) * gloss;
}
)";

inline const std::string k_background = R"(
uniform vec4 top, bottom;
uniform float picture_height;  // [pixels]

// A few levels over hundreds of rows would be stripes, but for an even noise of less than a level.
vec3 background() {
  float noise = fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715)))) - 0.5;
  return mix(bottom.rgb, top.rgb, gl_FragCoord.y / picture_height) + noise / 255.0;
}
)";

}  // namespace abut::shaders
