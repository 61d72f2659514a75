#define ABUT_KERNELS pair_kernels_avx512
#include "collision/manifold/kernel/pair_kernel_instance.h"
