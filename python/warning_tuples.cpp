#include "python/warning_tuples.h"

#include "apps/abut/report.h"

namespace abut::python {

void add_warnings(const Stepper& stepper, int world, const StartWarnings& start, const RunWarnings& steps,
                  std::vector<WarningTuple>& warnings) {
  const Model& model = stepper.model();
  const auto name = [&](int body) { return model.bodies[at(body)].name; };
  for (const Overlap& overlap : start.overlaps)
    warnings.emplace_back("overlap", world, -1, 0, name(overlap.body_A), overlap_text(model, overlap));
  for (const JointStartWarning& joint : start.joints)
    warnings.emplace_back(to_string(joint.kind), world, -1, 0, name(model.joints[at(joint.joint)].body_B),
                          warning_text(model, joint));
  for (const RunWarnings::Entry& entry : steps.entries())
    warnings.emplace_back(to_string(entry.kind), world, entry.first_step, entry.steps, name(entry.worst.body),
                          warning_text(model, stepper.config(), entry.kind, entry.worst));
}

}  // namespace abut::python
