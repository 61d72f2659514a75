/// A part of many numbered things, chosen by a hash of the number: the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace abut {

class HashedPart {
 public:
  /// @param part  of them that is chosen, about; all from 1 on
  explicit HashedPart(double part)
      : limit_(part >= 1.0 ? std::uint64_t{1} << 32 : static_cast<std::uint64_t>(part * 4294967296.0)) {}

  [[nodiscard]] bool contains(std::size_t number) const {
    std::uint64_t hash = (number + 1) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    return ((hash ^ (hash >> 31)) & 0xffffffffu) < limit_;
  }

 private:
  std::uint64_t limit_;
};

}  // namespace abut
