/// Elimination of a matrix that belongs to the links of trees, from leaves to roots, in time linear in the links.
///
///   A = sum_i J_L,i' M_i J_R,i + diag(d)   (nv, nv)
///
/// with J_L,i and J_R,i the Jacobians of link i (6, nv) that left and right joint axes make (tree_kinematics.h),
/// and M_i any 6 x 6 block. Of each link, with S_L, S_R its axes,
///   D = S_L' M S_R + d,   M_parent += M - (M S_R) D^-1 (S_L' M):
/// the articulated-body inertia, which is not symmetric where left and right axes differ.
///
/// @see  Featherstone (2008), "Rigid Body Dynamics Algorithms", ch. 7, for the symmetric case.
#pragma once

#include <vector>

#include <Eigen/LU>

#include "dynamics/trees/tree.h"
#include "engine/types.h"

namespace abut {

template <typename S>
class TreeElimination {
 public:
  using Axes = Eigen::Matrix<S, 6, Eigen::Dynamic>;

  std::vector<Mat6<S>> block;  ///< M_i per link: set before factor(), overwritten by it

  void resize(const KinematicTrees& trees) {
    block.resize(trees.links.size());
    D_inverse_.resize(trees.links.size());
    force_.resize(trees.links.size());
    twist_.resize(trees.links.size());
    if (M_right_.cols() == trees.nv) return;
    M_right_.resize(6, trees.nv);
    left_M_.resize(6, trees.nv);
  }

  /// Factors A of the links in a range, whole trees. A singular D gives numbers that are not finite.
  void factor(const KinematicTrees& trees, const Tree& part, const Axes& left, const Axes& right,
              const VecX<S>& diagonal) {
    for (int i = part.end_link - 1; i >= part.first_link; --i) {
      const Link& link = trees.links[at(i)];
      switch (link.nv) {
        case 0:
          if (link.parent >= 0) block[at(link.parent)] += block[at(i)];
          break;
        case 1:
          eliminate<1>(link, i, left, right, diagonal);
          break;
        case 3:
          eliminate<3>(link, i, left, right, diagonal);
          break;
        default:
          eliminate<6>(link, i, left, right, diagonal);
          break;
      }
    }
  }

  /// x <- A^-1 x (nv) of the range, with the axes of factor().
  void solve(const KinematicTrees& trees, const Tree& part, const Axes& left, const Axes& right, VecX<S>& x) {
    solve_by<false>(trees, part, left, right, M_right_, left_M_, x);
  }

  /// x <- A'^-1 x (nv) of the range, with the axes of factor().
  void solve_transposed(const KinematicTrees& trees, const Tree& part, const Axes& left, const Axes& right,
                        VecX<S>& x) {
    solve_by<true>(trees, part, right, left, left_M_, M_right_, x);
  }

 private:
  template <int n>
  void eliminate(const Link& link, int i, const Axes& left, const Axes& right, const VecX<S>& diagonal) {
    using Columns = Eigen::Matrix<S, 6, n>;
    const Mat6<S>& M = block[at(i)];
    const Columns S_left = left.template middleCols<n>(link.u),
                  S_right = right.template middleCols<n>(link.u);
    Columns M_right, left_M;
    M_right.noalias() = M * S_right;
    left_M.noalias() = M.transpose() * S_left;
    Eigen::Matrix<S, n, n> D = S_left.transpose() * M_right, D_inverse;
    D.diagonal() += diagonal.template segment<n>(link.u);
    if constexpr (n == 1) {
      D_inverse(0, 0) = S(1) / D(0, 0);
    } else {
      D_inverse = D.inverse();
    }
    D_inverse_[at(i)].template topLeftCorner<n, n>() = D_inverse;
    M_right_.template middleCols<n>(link.u) = M_right;
    left_M_.template middleCols<n>(link.u) = left_M;
    if (link.parent < 0) return;
    Mat6<S>& above = block[at(link.parent)];
    const Columns scaled = M_right * D_inverse;
    for (int c = 0; c < 6; ++c) {
      Vec6<S> passed_on = M.col(c);
      for (int k = 0; k < n; ++k) passed_on -= scaled.col(k) * left_M(c, k);
      above.col(c) += passed_on;
    }
  }

  /// Leaves to roots:  r = x - left' p,  p_parent += p + M_right D^-1 r;
  /// roots to leaves:  x = D^-1 (r - left_M' W_parent),  W = W_parent + right x.
  template <bool is_transposed>
  void solve_by(const KinematicTrees& trees, const Tree& part, const Axes& left, const Axes& right,
                const Axes& M_right, const Axes& left_M, VecX<S>& x) {
    for (int i = part.first_link; i < part.end_link; ++i) force_[at(i)].setConstant(S(0));
    for (int i = part.end_link - 1; i >= part.first_link; --i) {
      const Link& link = trees.links[at(i)];
      switch (link.nv) {
        case 0:
          if (link.parent >= 0) force_[at(link.parent)] += force_[at(i)];
          break;
        case 1:
          up<1, is_transposed>(link, i, left, M_right, x);
          break;
        case 3:
          up<3, is_transposed>(link, i, left, M_right, x);
          break;
        default:
          up<6, is_transposed>(link, i, left, M_right, x);
          break;
      }
    }
    for (int i = part.first_link; i < part.end_link; ++i) {
      const Link& link = trees.links[at(i)];
      switch (link.nv) {
        case 0:
          twist_[at(i)] = twist_above(link);
          break;
        case 1:
          down<1, is_transposed>(link, i, right, left_M, x);
          break;
        case 3:
          down<3, is_transposed>(link, i, right, left_M, x);
          break;
        default:
          down<6, is_transposed>(link, i, right, left_M, x);
          break;
      }
    }
  }

  /// Leaves x = D^-1 r in place of r.
  template <int n, bool is_transposed>
  void up(const Link& link, int i, const Axes& left, const Axes& M_right, VecX<S>& x) {
    using Rates = Eigen::Matrix<S, n, 1>;
    const Vec6<S>& p = force_[at(i)];
    Rates r;
    for (int k = 0; k < n; ++k) r[k] = x[link.u + k] - left.col(link.u + k).dot(p);
    const auto D_inverse = D_inverse_[at(i)].template topLeftCorner<n, n>();
    const Rates y = is_transposed ? Rates(D_inverse.transpose() * r) : Rates(D_inverse * r);
    x.template segment<n>(link.u) = y;
    if (link.parent < 0) return;
    Vec6<S> passed_on = p;
    for (int k = 0; k < n; ++k) passed_on += M_right.col(link.u + k) * y[k];
    force_[at(link.parent)] += passed_on;
  }

  template <int n, bool is_transposed>
  void down(const Link& link, int i, const Axes& right, const Axes& left_M, VecX<S>& x) {
    using Rates = Eigen::Matrix<S, n, 1>;
    Vec6<S> twist = twist_above(link);
    Rates r;
    for (int k = 0; k < n; ++k) r[k] = left_M.col(link.u + k).dot(twist);
    const auto D_inverse = D_inverse_[at(i)].template topLeftCorner<n, n>();
    const Rates y = is_transposed ? Rates(D_inverse.transpose() * r) : Rates(D_inverse * r);
    for (int k = 0; k < n; ++k) {
      x[link.u + k] -= y[k];
      twist += right.col(link.u + k) * x[link.u + k];
    }
    twist_[at(i)] = twist;
  }

  [[nodiscard]] Vec6<S> twist_above(const Link& link) const {
    return link.parent < 0 ? Vec6<S>(Vec6<S>::Constant(S(0))) : twist_[at(link.parent)];
  }

  std::vector<Mat6<S>> D_inverse_;  ///< its upper left corner, as large as the joint has rates
  Axes M_right_, left_M_;           ///< (6, nv): M S_R and M' S_L
  std::vector<Vec6<S>> force_, twist_;
};

}  // namespace abut
