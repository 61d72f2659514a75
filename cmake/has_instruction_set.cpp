// Exits with 0 if this machine can run the kernels for an instruction set: ABUT_PROCESSOR_HAS is a function of processor.h.
#include "engine/processor.h"

int main() { return abut::ABUT_PROCESSOR_HAS() ? 0 : 1; }
