#define ABUT_KERNELS row_kernels_avx2
#include "dynamics/kernel/row_kernel_instance.h"
