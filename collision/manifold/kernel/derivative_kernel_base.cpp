#define ABUT_KERNELS derivative_kernels_base
#include "collision/manifold/kernel/derivative_kernel_instance.h"
