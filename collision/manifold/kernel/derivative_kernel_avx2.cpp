#define ABUT_KERNELS derivative_kernels_avx2
#include "collision/manifold/kernel/derivative_kernel_instance.h"
