/// `abut run --batch`: the rollouts of a table, and their results in one file.
#pragma once

#include <filesystem>
#include <functional>

namespace abut {

struct BatchArguments {
  std::filesystem::path table, out;
  int threads = 0;            ///< 0: all cores
  bool trajectories = false;  ///< every state goes into the file, not the last one alone
  bool resume = false, json = false, quiet = false;
};

/// Runs the batch, prints its summary and writes its file. Returns the exit code: 0 well, 1 a rollout failed
/// or the batch was stopped. Throws InputError for bad input.
///
/// @param go_on  asked all the time; false stops the batch: what has finished stays in the journal beside
/// `out`
int run_batch_table(const BatchArguments& arguments, const std::function<bool()>& go_on);

/// The journal of a batch that is to write `out`.
[[nodiscard]] std::filesystem::path batch_journal_path(const std::filesystem::path& out);

/// Turns the first Ctrl-C (SIGINT, SIGTERM) into a request to stop, as long as it lives; the second one ends
/// the program as ever. One at a time.
class InterruptRequest {
 public:
  InterruptRequest();
  ~InterruptRequest();
  InterruptRequest(const InterruptRequest&) = delete;
  InterruptRequest& operator=(const InterruptRequest&) = delete;

  [[nodiscard]] bool received() const;
};

}  // namespace abut
