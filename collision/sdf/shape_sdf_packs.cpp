#include "collision/sdf/shape_sdf.h"

namespace abut {

ABUT_SDF_PACKS()

}  // namespace abut
