/// What compilers are asked to inline.
#pragma once

/// A kernel inlines whatever it calls, and its parts are inlined, so that all stays in registers; in
/// functions of such length compilers do not by themselves. Not with sanitizers, which multiply the code, nor
/// in tests (ABUT_KERNELS_ARE_PLAIN), which instantiate kernels for numbers that only they use: the same
/// values, and half the time to compile.
#if defined(__OPTIMIZE__) && !defined(ABUT_KERNELS_ARE_PLAIN) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define ABUT_KERNEL __attribute__((flatten))
#define ABUT_KERNEL_PART __attribute__((always_inline)) inline
#else
#define ABUT_KERNEL
#define ABUT_KERNEL_PART inline
#endif
