#define ABUT_KERNELS row_kernels_avx512
#include "dynamics/kernel/row_kernel_instance.h"
