/// The shaders of the renderer, one program a kind of thing that is drawn.
///
/// Colours come and go as a screen has them (sRGB); light is added up in between, in linear light. Positions
/// and normals are those seen by the camera: x to the right, y upwards, z towards the eye.
#pragma once

#include <string>

namespace abut::shaders {

inline const std::string k_version = "#version 330 core\n";

// ---------------------------------------------------------------------------------------------- light

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

// ---------------------------------------------------------------------------------------------- background

inline const std::string k_background = R"(
uniform vec4 top, bottom;
uniform float picture_height;  // [pixels]

// A few levels over hundreds of rows would be stripes, but for an even noise of less than a level.
vec3 background() {
  float noise = fract(52.9829189 * fract(dot(floor(gl_FragCoord.xy), vec2(0.06711056, 0.00583715)))) - 0.5;
  return mix(bottom.rgb, top.rgb, gl_FragCoord.y / picture_height) + noise / 255.0;
}
)";

/// One triangle that is larger than the picture, behind everything.
inline const std::string k_background_vertex = k_version + R"(
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 1.0, 1.0);
}
)";

inline const std::string k_background_fragment = k_version + k_background + R"(
out vec4 pixel;
void main() { pixel = vec4(background(), 1.0); }
)";

// ---------------------------------------------------------------------------------------------- surface

inline const std::string k_surface_vertex = k_version + R"(
uniform mat4 model_view, projection;
uniform vec4 colour;
uniform int has_colours;  // of its own, at each vertex
layout(location = 0) in vec3 vertex_position;
layout(location = 1) in vec3 vertex_normal;
layout(location = 2) in vec4 vertex_colour;
out vec3 position, normal;
out vec4 paint;
void main() {
  position = (model_view * vec4(vertex_position, 1.0)).xyz;
  normal = mat3(model_view) * vertex_normal;
  bool is_coloured = has_colours != 0 && vertex_colour.a >= 0.0;
  paint = is_coloured ? vec4(vertex_colour.rgb, vertex_colour.a * colour.a) : colour;
  gl_Position = projection * vec4(position, 1.0);
}
)";

inline const std::string k_surface_fragment = k_version + k_light + R"(
uniform float highlight;  // 1: selected
uniform float ink;        // 1: a line, darker than the surface it lies on and without light
in vec3 position, normal;
in vec4 paint;
out vec4 pixel;
void main() {
  vec3 to_eye = normalize(-position);
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  vec3 albedo = to_linear(paint.rgb);
  float edge = 1.0 - clamp(dot(n, to_eye), 0.0, 1.0);
  vec3 light = lit(albedo, n, to_eye, 0.0) * (1.0 + 0.22 * highlight);
  light += highlight * (0.05 + 0.75 * edge * edge * edge);
  light = mix(light, 0.12 * albedo, ink);
  // What is seen through is denser where it is looked at from the side, as glass is.
  float opacity = paint.a < 1.0 ? mix(paint.a, sqrt(paint.a), edge * edge) : 1.0;
  pixel = vec4(to_screen(light), mix(opacity, 0.75, ink));
}
)";

// ---------------------------------------------------------------------------------------------- glyphs

inline const std::string k_glyph_vertex = k_version + R"(
uniform mat4 view, projection;
layout(location = 0) in vec3 vertex_position;
layout(location = 1) in vec3 vertex_normal;
layout(location = 2) in vec3 axis_x;      // these four: of each glyph
layout(location = 3) in vec3 axis_y;
layout(location = 4) in vec3 axis_z;
layout(location = 5) in vec3 origin;
layout(location = 6) in vec4 glyph_colour;
out vec3 position, normal;
out vec4 paint;
void main() {
  mat3 axes = mat3(axis_x, axis_y, axis_z);
  position = (view * vec4(axes * vertex_position + origin, 1.0)).xyz;
  // Normals go by cofactors, which do not mind an axis of no length; in units that do not underflow.
  float size = max(max(length(axis_x), length(axis_y)), max(length(axis_z), 1e-30));
  vec3 x = axis_x / size, y = axis_y / size, z = axis_z / size;
  normal = mat3(view) * (mat3(cross(y, z), cross(z, x), cross(x, y)) * vertex_normal);
  paint = glyph_colour;
  gl_Position = projection * vec4(position, 1.0);
}
)";

inline const std::string k_glyph_fragment = k_version + k_light + R"(
in vec3 position, normal;
in vec4 paint;
out vec4 pixel;
void main() {
  vec3 n = normalize(gl_FrontFacing ? normal : -normal);
  pixel = vec4(to_screen(lit(to_linear(paint.rgb), n, normalize(-position), 0.6)), paint.a);
}
)";

// ---------------------------------------------------------------------------------------------- floor

/// A square of the plane z = 0, `radius` around the point below the camera's target.
inline const std::string k_floor_vertex = k_version + R"(
uniform mat4 model_view, projection;      // model: the origin is that point
uniform float radius;
out vec2 place;                           // from that point
void main() {
  place = radius * vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0);
  gl_Position = projection * model_view * vec4(place, 0.0, 1.0);
}
)";

/// Squares of two sizes, of which the smaller fade away as the camera leaves; each is averaged over the
/// pixel. Of a wave that is 1 and -1 by turns the average over a width w is the difference of its integral, a
/// triangle wave, over w. It fades into the background by mixing, not by blending: software renderers blend
/// each sample of each pixel.
inline const std::string k_floor_fragment = k_version + k_background + R"(
uniform float radius, opacity;
uniform float square, coarse_share;       // width of the smaller squares; of the ten times larger ones, 0 to 1
uniform vec2 fine_offset, coarse_offset;  // of that point in the pattern of each
uniform vec4 light_colour, dark_colour;
in vec2 place;
out vec4 pixel;

vec2 triangle_wave(vec2 x) { return 2.0 * abs(fract(0.5 * x) - 0.5); }  // slope -1 in (0, 1), 1 in (1, 2)

float checker(vec2 x, vec2 width) {
  vec2 mean = (triangle_wave(x + 0.5 * width) - triangle_wave(x - 0.5 * width)) / width;
  return mean.x * mean.y;
}

void main() {
  vec2 width = max(fwidth(place) / square, vec2(1e-3));
  float fine = checker(fine_offset + place / square, width);
  float coarse = checker(coarse_offset + place / (10.0 * square), 0.1 * width);
  float shade = 0.5 + 0.5 * mix(fine, coarse, coarse_share);
  float fade = 1.0 - smoothstep(0.15, 1.0, length(place) / radius);
  vec3 colour = mix(dark_colour.rgb, light_colour.rgb, shade);
  pixel = vec4(mix(background(), colour, fade * fade), opacity < 1.0 ? opacity * fade * fade : 1.0);
}
)";

// ---------------------------------------------------------------------------------------------- slice

inline const std::string k_slice_vertex = k_version + R"(
uniform mat4 view_projection;
uniform vec3 centre, half_right, half_up;
out vec2 place;
void main() {
  vec2 corner = vec2((gl_VertexID & 1) == 0 ? -1.0 : 1.0, (gl_VertexID & 2) == 0 ? -1.0 : 1.0);
  place = 0.5 + 0.5 * corner;
  gl_Position = view_projection * vec4(centre + corner.x * half_right + corner.y * half_up, 1.0);
}
)";

inline const std::string k_slice_fragment = k_version + R"(
uniform sampler2D image;
in vec2 place;
out vec4 pixel;
void main() {
  vec2 inwards = min(place, 1.0 - place);
  float frame = 1.0 - smoothstep(0.5, 1.5, min(inwards.x / fwidth(place.x), inwards.y / fwidth(place.y)));
  vec4 colour = texture(image, place);
  pixel = vec4(mix(colour.rgb, vec3(0.1), 0.8 * frame), colour.a);
}
)";

}  // namespace abut::shaders
