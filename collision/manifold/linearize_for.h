/// What a linearization is for.
#pragma once

namespace abut {

/// A single VJP finds its derivatives when it knows along what, many share them; JVPs (`both`) need more.
/// vjp_of_known: a single one, of contacts whose numbers but for points and activities are there already.
enum class LinearizeFor { vjp_of_known, vjp, many_vjps, both };

[[nodiscard]] constexpr bool is_for_one_vjp(LinearizeFor what_for) { return what_for <= LinearizeFor::vjp; }

}  // namespace abut
