/// A vector of doubles with a capacity, for memory that serves problems of many sizes.
#pragma once

#include <memory>
#include <utility>

#include <Eigen/Core>

namespace abut {

/// As Eigen::VectorXd, in expressions too, but memory is kept when the size shrinks: resize() allocates only
/// beyond the largest size so far, where that of Eigen's vectors allocates at each change.
class GrowableVector : public Eigen::Map<Eigen::VectorXd, Eigen::Aligned16> {
 public:
  using Base = Eigen::Map<Eigen::VectorXd, Eigen::Aligned16>;

  GrowableVector() : Base(nullptr, 0) {}
  explicit GrowableVector(Eigen::Index size) : GrowableVector() { resize(size); }
  template <typename Expression>
  GrowableVector(const Eigen::EigenBase<Expression>& other) : GrowableVector() {  // as Eigen's, not explicit
    *this = other.derived();
  }
  GrowableVector(const GrowableVector& other) : GrowableVector() { *this = other; }
  GrowableVector(GrowableVector&& other) noexcept : GrowableVector() { swap(other); }
  ~GrowableVector() = default;

  GrowableVector& operator=(const GrowableVector& other) {
    if (this == &other) return *this;
    resize(other.size());
    Base::operator=(static_cast<const Base&>(other));
    return *this;
  }
  GrowableVector& operator=(GrowableVector&& other) noexcept {
    swap(other);
    return *this;
  }
  /// An expression of another size must not contain this vector.
  template <typename Expression>
  GrowableVector& operator=(const Eigen::EigenBase<Expression>& other) {
    resize(other.size());
    Base::operator=(other.derived());
    return *this;
  }

  /// Elements are not kept, nor set.
  void resize(Eigen::Index size) {
    if (size > capacity_) {
      memory_ = std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(size));
      capacity_ = size;
    }
    new (static_cast<Base*>(this))
        Base(memory_.get(), size);  // as Eigen documents for changing what is mapped
  }
  using Base::setZero;
  void setZero(Eigen::Index size) {
    resize(size);
    Base::setZero();
  }

  void swap(GrowableVector& other) noexcept {
    const Eigen::Index own = size(), others = other.size();
    std::swap(memory_, other.memory_);
    std::swap(capacity_, other.capacity_);
    new (static_cast<Base*>(this)) Base(memory_.get(), others);
    new (static_cast<Base*>(&other)) Base(other.memory_.get(), own);
  }
  friend void swap(GrowableVector& a, GrowableVector& b) noexcept { a.swap(b); }

 private:
  std::unique_ptr<double[]> memory_;
  Eigen::Index capacity_ = 0;
};

}  // namespace abut
