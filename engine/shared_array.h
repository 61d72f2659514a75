/// Numbers of any shape in C order, owned together by all copies of the array.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

namespace abut {

/// An array whose copies share its numbers: a result, and the views of it that outlive it.
template <typename T>
struct SharedArray {
  std::vector<std::size_t> shape;  ///< the last index runs fastest
  std::shared_ptr<T[]> numbers;

  SharedArray() = default;
  /// The numbers are left uninitialised.
  explicit SharedArray(std::vector<std::size_t> of_shape)
      : shape(std::move(of_shape)), numbers(std::make_shared_for_overwrite<T[]>(size())) {}

  [[nodiscard]] std::size_t size() const {
    return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
  }
  [[nodiscard]] T* data() const { return numbers.get(); }
};

}  // namespace abut
