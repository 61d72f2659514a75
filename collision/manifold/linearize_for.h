/// What a linearization is for.
#pragma once

namespace abut {

/// A single VJP finds its derivatives when it knows along what, many share them; JVPs (`both`) need more.
/// vjp_of_known: a single one, of contacts whose numbers but for points and activities are there already.
/// values: none, only the contacts are found.
enum class LinearizeFor { values, vjp_of_known, vjp, many_vjps, both };

/// Whether the derivatives of each contact can wait for a VJP.
[[nodiscard]] constexpr bool is_for_one_vjp(LinearizeFor what_for) { return what_for <= LinearizeFor::vjp; }

}  // namespace abut
