/// ceres::Jet as independent oracle of our derivatives. It needs no overloads of ours: select() takes the
/// bool that comparing two Jets gives, and value_of() finds the member `a`.
#pragma once

#include <ceres/jet.h>

#include <Eigen/Core>

#include "engine/scalar.h"

namespace abut::test {

template <int N>
using Jet = ceres::Jet<double, N>;

/// The N elements of x as variables: element i has derivative 1 by number i.
template <int N>
Eigen::Matrix<Jet<N>, N, 1> variables(const Eigen::Matrix<double, N, 1>& x) {
  Eigen::Matrix<Jet<N>, N, 1> r;
  for (int i = 0; i < N; ++i) r[i] = Jet<N>(x[i], i);
  return r;
}

}  // namespace abut::test
