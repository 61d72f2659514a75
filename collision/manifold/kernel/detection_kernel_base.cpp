#define ABUT_KERNELS detection_kernels_base
#include "collision/manifold/kernel/detection_kernel_instance.h"
