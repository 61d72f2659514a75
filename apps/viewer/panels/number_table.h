/// A table of names and values with units, each of which a click copies.
#pragma once

#include <string>

#include "engine/types.h"

namespace abut::viewer {

/// Rows go between its constructor and its destructor.
class NumberTable {
 public:
  /// @param all  gets a line for each row, as the button that copies all of them has it; may be null
  explicit NumberTable(const char* id, std::string* all = nullptr);
  ~NumberTable();
  NumberTable(const NumberTable&) = delete;
  NumberTable& operator=(const NumberTable&) = delete;

  void text(const char* name, const std::string& value);
  /// Shown with a prefix of its unit if that is m or N; copied with all its digits and without one.
  void number(const char* name, double value, const char* unit);
  void vector(const char* name, const Vec3<double>& value, const char* unit, double scale = 1.0);

 private:
  void begin_row(const char* name) const;
  void end_row(const char* name, const std::string& shown, const std::string& copied) const;

  bool is_drawn_;
  std::string* all_;
};

}  // namespace abut::viewer
