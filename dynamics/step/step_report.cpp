#include "dynamics/step/step_report.h"

namespace abut {

const char* to_string(StepStatus status) {
  switch (status) {
    case StepStatus::ok:
      return "ok";
    case StepStatus::not_converged:
      return "not_converged";
    case StepStatus::non_finite:
      return "non_finite";
    case StepStatus::too_deep:
      return "too_deep";
    case StepStatus::too_fast:
      return "too_fast";
    case StepStatus::turns_too_far:
      return "turns_too_far";
    case StepStatus::jumped:
      return "jumped";
  }
  return "unknown";
}

}  // namespace abut
