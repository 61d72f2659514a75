#define ABUT_KERNELS detection_kernels_avx512
#include "collision/manifold/kernel/detection_kernel_instance.h"
