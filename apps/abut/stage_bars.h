/// Progress of work in stages: a progress bar for each, one after another.
#pragma once

#include <optional>
#include <string>

#include "apps/abut/progress_bar.h"

namespace abut {

class StageBars {
 public:
  explicit StageBars(bool quiet) : quiet_(quiet) {}

  /// @param what  is counted, in the plural; another word, or a smaller count, begins another stage
  void update(const std::string& what, int done, int total) {
    if (what != what_ || done < done_) {
      bar_.reset();
      bar_.emplace(what, total, quiet_);
      what_ = what;
    }
    done_ = done;
    bar_->update(done);
  }

 private:
  bool quiet_;
  std::string what_;
  int done_ = 0;
  std::optional<ProgressBar> bar_;
};

}  // namespace abut
