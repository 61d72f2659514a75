/// A list of every action, found by typing a part of its name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/viewer/layout.h"
#include "apps/viewer/panels/key_table.h"
#include "apps/viewer/panels/panel.h"

namespace abut::viewer {

/// Rows of the key table that a query describes, the best first; all in the table's order if it is empty.
[[nodiscard]] std::vector<const KeyBinding*> matching_actions(const std::string& query);

class CommandPalette {
 public:
  void show();
  void close() { open_ = false; }
  [[nodiscard]] bool open() const { return open_; }
  /// Between the begin and the end of a picture; the action that was chosen in it.
  [[nodiscard]] std::optional<Action> draw(const PanelContext& context, const Rectangle& area, float scale);

 private:
  void move_by_keys(int count);

  bool open_ = false, appears_ = false;
  std::string query_;
  int row_ = 0;  // that Enter means
};

}  // namespace abut::viewer
