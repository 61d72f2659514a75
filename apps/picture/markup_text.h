/// Text for pages and drawings in HTML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace abut {

/// `&`, `<`, `>` and quotes as HTML and SVG write them, in texts and in attributes. What may not stand in a
/// page (control characters) becomes U+FFFD.
[[nodiscard]] std::string escaped(std::string_view text);

}  // namespace abut
