/// Numbers in reports, with the digits that are worth reading.
#pragma once

#include <string>

namespace abut {

/// As many significant digits as asked for, zeros at the end left out; "-" where it is not finite.
[[nodiscard]] std::string number_text(double value, int digits = 6);

/// To the second digit of how uncertain it is: 0.123456 known to 0.0123 is "0.123". As number_text() where
/// the uncertainty is 0 or not finite.
[[nodiscard]] std::string rounded_text(double value, double uncertainty);

}  // namespace abut
