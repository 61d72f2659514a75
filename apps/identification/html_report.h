/// What a search has found as a page that needs nothing but a browser.
#pragma once

#include <string>

#include "apps/identification/identification_report.h"

namespace abut {

/// One HTML file with its style and its figures in it: no script, nothing from elsewhere. It follows the
/// reader's choice of light or dark, fits a telephone and can be printed.
[[nodiscard]] std::string html_report(const IdentificationReport& report);

}  // namespace abut
