/// What a linearization is for.
#pragma once

namespace abut {

/// A single VJP finds its derivatives when it knows along what, many share them; JVPs (`both`) need more.
enum class LinearizeFor { vjp, many_vjps, both };

}  // namespace abut
