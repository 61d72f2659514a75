/// What other values of a scene's parameters would make of a loss: predicted by its gradient, and simulated.
#pragma once

#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "apps/viewer/simulation/gradient_job.h"
#include "dynamics/parameters/scene_parameter.h"

namespace abut::viewer {

/// A number of the scene that a loss was differentiated by.
struct StudiedParameter {
  SceneParameter parameter;
  double value = 0.0;                  ///< where the gradient was taken
  double derivative = 0.0;             ///< dL/d(parameter) there
  double lowest = 0.0, highest = 1.0;  ///< of a slider: what is allowed of the parameter's neighbourhood
  double wanted = 0.0;

  /// What the loss changes by over half of the slider, to first order.
  [[nodiscard]] double influence() const;
};

/// Those with a derivative that is not zero: GradientRequest::unknowns, then the most influential first.
[[nodiscard]] std::vector<StudiedParameter> studied_parameters(const GradientResult& result);

/// The steps of a gradient at other values of some parameters.
struct SimulatedChange {
  std::string error;  ///< why there is no loss; else empty
  double loss = 0.0;
  std::shared_ptr<const std::vector<State>> states;
};

/// Of the loss over one parameter, the others as they are wanted.
struct LossCurve {
  std::vector<double> x, loss;  ///< x ascends; NaN where the steps fail
};

/// Rotations and displacements of all bodies, as StateTangent::pose has them.
using PoseTangents = std::vector<Vec6<double>>;

/// Values are set from the picture; a thread simulates the latest of them, and gives up earlier ones.
class ParameterStudy {
 public:
  ~ParameterStudy();

  /// Begins anew, at the values of a gradient; without one there is nothing to study.
  void begin(const GradientResult* result);
  [[nodiscard]] const std::vector<StudiedParameter>& parameters() const { return parameters_; }
  /// The parameter that was set last, -1 at first.
  [[nodiscard]] int active() const { return active_; }
  void set(int index, double value);
  void reset();  ///< to the values of the gradient
  [[nodiscard]] bool is_changed() const;

  [[nodiscard]] double loss() const { return loss_; }  ///< at the values of the gradient
  /// By the gradient, at the values that are wanted, or with another one of the active parameter.
  [[nodiscard]] double predicted() const;
  [[nodiscard]] double predicted_at(double active_value) const;
  /// At the values that are wanted; none yet.
  [[nodiscard]] std::optional<SimulatedChange> simulated() const;
  [[nodiscard]] LossCurve curve() const;  ///< as far as it is there
  /// Where bodies are after the last step at the values that are wanted, to first order; none yet. By a
  /// parameter without a derivative forwards (has_direction(), rollout_jvp()) it takes a reverse pass for
  /// each coordinate of the bodies that move, hence of more than eight of them there is none.
  [[nodiscard]] std::optional<std::vector<Pose<double>>> predicted_end() const;
  [[nodiscard]] bool busy() const { return future_.valid(); }

  /// Starts and ends simulations; once per picture. Never waits.
  void poll();

 private:
  /// Results of one job, which may go on while others take its place.
  struct Progress {
    mutable std::mutex mutex;
    std::optional<SimulatedChange> change;
    LossCurve curve;
  };
  /// How the poses after the last step change by one unit of a parameter, by its name; null where that is
  /// not known.
  struct EndTangents {
    std::mutex mutex;  // of the map
    std::map<std::string, std::shared_ptr<const PoseTangents>> of_parameter;
    std::optional<std::vector<Gradient>> gradients;  // of the jobs alone, which follow each other

    /// Adds those that are not there yet, until it is stopped.
    void find(const GradientRequest& request, const std::vector<SceneParameter>& parameters,
              const std::stop_token& stop);
  };
  void restart();

  std::vector<StudiedParameter> parameters_;
  int active_ = -1;
  double loss_ = 0.0;
  std::shared_ptr<const GradientRequest> request_;
  bool is_wanted_ = false;  // a job that has not been started
  State end_;               // of the gradient's steps
  std::shared_ptr<Progress> progress_ = std::make_shared<Progress>();
  std::shared_ptr<EndTangents> tangents_ = std::make_shared<EndTangents>();
  std::stop_source stop_;
  std::future<void> future_;
};

}  // namespace abut::viewer
