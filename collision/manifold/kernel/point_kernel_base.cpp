#define ABUT_KERNELS point_kernels_base
#include "collision/manifold/kernel/point_kernel_instance.h"
