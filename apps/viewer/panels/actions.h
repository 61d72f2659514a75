/// What keys and buttons do alike.
#pragma once

#include <filesystem>
#include <future>
#include <memory>
#include <span>
#include <string>

#include "apps/viewer/panels/key_table.h"
#include "apps/viewer/panels/panel.h"

namespace abut::viewer {

/// Does what a key asks for. False for Action::quit, which is the viewer's.
bool perform(Action action, PanelContext& context, std::span<const std::unique_ptr<Panel>> panels);

/// Opens a panel in place of any other of its pane.
void choose_panel(Panel& chosen, std::span<const std::unique_ptr<Panel>> panels);

/// Whether what an action turns on and off is on now; false of all others.
[[nodiscard]] bool is_on(Action action, const PanelContext& context);

/// Opens a scene, an experiment, a trajectory (.npz) with its scene, or a trajectory of a given scene, and
/// measurements (.csv) of it, or of the scene that is open if there are these alone; what is not given is
/// empty. The answer is why that cannot be, which frames then say, too; empty if it is open.
[[nodiscard]] std::future<std::string> open_files(SimulationThread& simulation,
                                                  const std::filesystem::path& scene,
                                                  const std::filesystem::path& trajectory,
                                                  const std::filesystem::path& measurements = {});
/// The frame's moment and `steps` more (or fewer).
void step_by(PanelContext& context, int steps);
/// Halves and doubles from 1/16 to 16.
void change_speed(PanelContext& context, double factor);
/// The picture needs contacts without edges, which the simulation makes only while somebody looks.
void set_side_by_side(PanelContext& context, bool side_by_side);

/// The slice through what the camera looks at, as wide as half of what it sees, towards it.
void place_slice(PanelContext& context);
/// A body's next primitive, after the last one all, then those of the next body that has several.
void next_primitive(PanelContext& context);

/// Asks for a gradient of context.gradients.loss: it comes when poll_gradients() was called often enough.
void ask_for_gradient(PanelContext& context, bool check);
void ask_for_determinism(PanelContext& context);
/// Whether anything was asked for that has not come.
[[nodiscard]] bool is_busy(const GradientState& gradients);
/// Takes what has come, and passes it on; once per picture. Never waits.
void poll_gradients(GradientState& gradients);

/// Shows GradientState::motion as passing ghosts, or none where nobody has asked for it in this picture. Once
/// per picture, after the panels.
void show_motion_of_sliders(PanelContext& context);

/// Where another motion of an experiment is shown, the loss is that of its measurements from then on, over
/// all of it; where there is none any more, another one takes its place.
void follow_experiment(const Frame& frame, GradientState& gradients);

/// Appends the frame to the samples of pinned contacts if its time is another than that of their last one;
/// where time went back, or they belong to other bodies, they begin anew. Once per picture, also while the
/// panel is closed.
void sample_pinned(const Frame& frame, Selection& selection);
inline constexpr std::size_t k_most_samples = 2000;

}  // namespace abut::viewer
