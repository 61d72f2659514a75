// Includes the stb header that ABUT_STB_HEADER names, without the warnings that it makes. No guard: a file
// may include several.

#ifdef ABUT_STB_HEADER
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wcast-qual"
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#if !defined(__clang__)
#pragma GCC diagnostic ignored "-Wduplicated-branches"
#endif
#endif
#include ABUT_STB_HEADER
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef ABUT_STB_HEADER
#endif
