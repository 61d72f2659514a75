#define ABUT_KERNELS manifold_kernels_base
#include "collision/manifold/kernel/pair_kernel_instance.h"
