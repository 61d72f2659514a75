/// Numbers of many things, column by column.
#pragma once

#include <cstddef>
#include <vector>

namespace abut {

template <typename T>
struct Columns {
  int stride = 0;
  std::vector<T> numbers;

  Columns() = default;
  Columns(int columns, int its_stride)
      : stride(its_stride),
        numbers(static_cast<std::size_t>(columns) * static_cast<std::size_t>(its_stride)) {}
  [[nodiscard]] const T* column(int c) const {
    return numbers.data() + static_cast<std::ptrdiff_t>(c) * stride;
  }
  void set(int c, int i, double x) {
    numbers[static_cast<std::size_t>(c) * static_cast<std::size_t>(stride) + static_cast<std::size_t>(i)] =
        static_cast<T>(x);
  }
};

}  // namespace abut
