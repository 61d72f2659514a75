#define ABUT_KERNELS pair_kernels_base
#include "collision/manifold/kernel/pair_kernel_instance.h"
