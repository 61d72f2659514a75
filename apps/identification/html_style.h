/// The style sheet of pages about a search.
#pragma once

#include <string>

namespace abut {

/// Light, dark (as the reader prefers) and printed; from one column of a telephone to three of a desk.
[[nodiscard]] std::string style_sheet();

}  // namespace abut
