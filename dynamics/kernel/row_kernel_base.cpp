#define ABUT_KERNELS row_kernels_base
#include "dynamics/kernel/row_kernel_instance.h"
