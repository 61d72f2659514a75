#define ABUT_KERNELS manifold_kernels_avx512
#include "collision/manifold/kernel/pair_kernel_instance.h"
