#define ABUT_KERNELS point_kernels_avx2
#include "collision/manifold/kernel/point_kernel_instance.h"
