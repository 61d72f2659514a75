#define ABUT_KERNELS detection_kernels_avx2
#include "collision/manifold/kernel/detection_kernel_instance.h"
