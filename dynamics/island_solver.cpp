#include "dynamics/island_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace abut {
namespace {

int root_of(std::vector<int>& parent, int slot) {
  while (parent[at(slot)] != slot) slot = parent[at(slot)] = parent[at(parent[at(slot)])];
  return slot;
}

void gather(const Eigen::VectorXd& whole, std::span<const int> slots, Eigen::VectorXd& part) {
  part.resize(6 * static_cast<Eigen::Index>(slots.size()));
  for (std::size_t i = 0; i < slots.size(); ++i)
    part.segment<6>(6 * static_cast<Eigen::Index>(i)) = whole.segment<6>(6 * slots[i]);
}

void scatter(const Eigen::VectorXd& part, std::span<const int> slots, Eigen::VectorXd& whole) {
  for (std::size_t i = 0; i < slots.size(); ++i)
    whole.segment<6>(6 * slots[i]) = part.segment<6>(6 * static_cast<Eigen::Index>(i));
}

/// Rows of some pairs, for slots that count within an island.
void select_rows(const ContactRows& whole, std::span<const int> pairs, std::span<const int> local_slot,
                 ContactRows& rows) {
  rows.rows.clear();
  rows.pairs.clear();
  const auto local = [&](int slot) { return slot < 0 ? -1 : local_slot[at(slot)]; };
  for (const int p : pairs) {
    RowPair pair = whole.pairs[at(p)];
    pair.slot_A = local(pair.slot_A);
    pair.slot_B = local(pair.slot_B);
    const int begin = static_cast<int>(rows.rows.size());
    for (int i = pair.begin; i < pair.end; ++i) {
      ContactRow& row = rows.rows.emplace_back(whole.rows[at(i)]);
      row.slot_A = pair.slot_A;
      row.slot_B = pair.slot_B;
      row.pair = static_cast<int>(rows.pairs.size());
    }
    pair.begin = begin;
    pair.end = static_cast<int>(rows.rows.size());
    rows.pairs.push_back(std::move(pair));
  }
}

/// Rows of some groups of joints.
void select_joints(const JointRows& whole, std::span<const int> groups, std::span<const int> local_slot,
                   JointRows& joints) {
  joints.clear();
  const auto local = [&](int slot) { return slot < 0 ? -1 : local_slot[at(slot)]; };
  for (const int j : groups) {
    const JointGroup& group = whole.groups[at(j)];
    joints.append(whole, group, local(group.slot_A), local(group.slot_B));
  }
}

/// The row of the whole problem that an island counts as `row`.
int whole_row(const ContactRows& whole, const IslandScratch::Island& island, int row) {
  const auto pair = at(island.rows.rows[at(row)].pair);
  return whole.pairs[at(island.pairs[pair])].begin + row - island.rows.pairs[pair].begin;
}

ContactProblem problem_of(const IslandScratch::Island& island, const ContactProblem& whole) {
  return {island.mass,     island.rows,       island.v_start, island.v_free, whole.h,
          whole.nominal_h, island.joint_rows, whole.impacts,  whole.lag};
}

}  // namespace

IslandScratch::Island& IslandScratch::Pool::next() {
  if (in_use == members.size()) members.emplace_back();
  return members[in_use++];
}

bool IslandSolver::split(const ContactProblem& problem, IslandScratch& scratch) {
  const int slots = problem.mass.slot_count();
  scratch.parent.resize(at(slots));
  std::iota(scratch.parent.begin(), scratch.parent.end(), 0);
  scratch.island_of_slot.assign(at(slots), -1);
  const auto touch = [&](int slot) {
    if (slot >= 0) scratch.island_of_slot[at(slot)] = 0;
  };
  const auto tie = [&](int slot_A, int slot_B) {
    touch(slot_A);
    touch(slot_B);
    if (slot_A < 0 || slot_B < 0) return;
    const int a = root_of(scratch.parent, slot_A), b = root_of(scratch.parent, slot_B);
    scratch.parent[at(std::max(a, b))] = std::min(a, b);
  };
  for (const RowPair& pair : problem.rows.pairs) tie(pair.slot_A, pair.slot_B);
  for (const JointGroup& group : problem.joints.groups) tie(group.slot_A, group.slot_B);
  scratch.size_of_root.assign(at(slots), 0);
  for (int slot = 0; slot < slots; ++slot) {
    if (scratch.island_of_slot[at(slot)] == 0) ++scratch.size_of_root[at(root_of(scratch.parent, slot))];
  }
  scratch.islands.clear();
  for (auto& pool : scratch.pools) pool.in_use = 0;
  if (scratch.pools.size() <= at(slots)) scratch.pools.resize(at(slots) + 1);
  scratch.local_slot.assign(at(slots), -1);
  for (int slot = 0; slot < slots; ++slot) {
    if (scratch.island_of_slot[at(slot)] < 0) continue;
    const int root = root_of(scratch.parent, slot);
    if (root == slot) {  // the lowest slot of its island
      IslandScratch::Island& island = scratch.pools[at(scratch.size_of_root[at(slot)])].next();
      island.slots.clear();
      island.pairs.clear();
      island.joints.clear();
      scratch.island_of_slot[at(slot)] = static_cast<int>(scratch.islands.size());
      scratch.islands.push_back(&island);
    }
    const int index = scratch.island_of_slot[at(slot)] = scratch.island_of_slot[at(root)];
    IslandScratch::Island& island = *scratch.islands[at(index)];
    scratch.local_slot[at(slot)] = static_cast<int>(island.slots.size());
    island.slots.push_back(slot);
  }
  if (scratch.islands.size() == 1 && static_cast<int>(scratch.islands[0]->slots.size()) == slots)
    return false;
  const auto island_of = [&](int slot_A, int slot_B) -> IslandScratch::Island& {
    return *scratch.islands[at(scratch.island_of_slot[at(std::max(slot_A, slot_B))])];
  };
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    island_of(pair.slot_A, pair.slot_B).pairs.push_back(static_cast<int>(p));
  }
  for (std::size_t j = 0; j < problem.joints.groups.size(); ++j) {
    const JointGroup& group = problem.joints.groups[j];
    island_of(group.slot_A, group.slot_B).joints.push_back(static_cast<int>(j));
  }
  for (IslandScratch::Island* const each : scratch.islands) {
    IslandScratch::Island& island = *each;
    island.mass.select(problem.mass, island.slots);
    select_rows(problem.rows, island.pairs, scratch.local_slot, island.rows);
    select_joints(problem.joints, island.joints, scratch.local_slot, island.joint_rows);
    gather(problem.v_start, island.slots, island.v_start);
    gather(problem.v_free, island.slots, island.v_free);
  }
  return true;
}

void IslandSolver::solve(const ContactProblem& problem, IslandScratch& scratch,
                         ContactSolution& solution) const {
  scratch.unconverged_slots.clear();
  if (!split(problem, scratch)) {
    solver_->solve(problem, scratch.whole, solution);
    return;
  }
  solution.reset();
  solution.velocity = problem.v_free;
  for (IslandScratch::Island* const each : scratch.islands) {
    IslandScratch::Island& island = *each;
    const ContactSolution& part = island.solution;
    solver_->solve(problem_of(island, problem), island.solver, island.solution);
    scatter(part.velocity, island.slots, solution.velocity);
    if (part.push_out.size() > 0) {
      if (solution.push_out.size() == 0) solution.push_out = problem.v_free;
      scatter(part.push_out, island.slots, solution.push_out);
    }
    if (part.displacement.size() > 0) {
      if (solution.displacement.size() == 0) solution.displacement.setZero(problem.mass.size());
      scatter(part.displacement, island.slots, solution.displacement);
    }
    if (part.impact_row >= 0 && (solution.impact_row < 0 || part.impact_time < solution.impact_time)) {
      solution.impact_row = whole_row(problem.rows, island, part.impact_row);
      solution.impact_time = part.impact_time;
    }
    solution.iterations = std::max(solution.iterations, part.iterations);
    solution.factorizations = std::max(solution.factorizations, part.factorizations);
    solution.residual =
        std::isfinite(part.residual) ? std::max(solution.residual, part.residual) : part.residual;
    solution.path = std::max(solution.path, part.path);
    solution.has_negative_determinant |= part.has_negative_determinant;
    if (solution.converged && !part.converged) scratch.unconverged_slots = island.slots;
    solution.converged = solution.converged && part.converged;
  }
}

void IslandSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                       const EndMotionBar& solution_bar, IslandScratch& scratch,
                       ContactProblemBar& bar) const {
  if (!split(problem, scratch)) {
    solver_->vjp(problem, solution, solution_bar, scratch.whole, bar);
    return;
  }
  for (std::size_t s = 0; s < scratch.island_of_slot.size(); ++s) {
    if (scratch.island_of_slot[s] >= 0) continue;
    const Eigen::Index i = 6 * static_cast<Eigen::Index>(s);
    bar.v_free.segment<6>(i) += solution_bar.velocity.segment<6>(i);
  }
  for (IslandScratch::Island* const each : scratch.islands) {
    IslandScratch::Island& island = *each;
    const ContactProblem part = problem_of(island, problem);
    gather(solution.velocity, island.slots, island.solution.velocity);
    island.solution.push_out.resize(0);
    if (solution.push_out.size() > 0) gather(solution.push_out, island.slots, island.solution.push_out);
    gather(solution_bar.velocity, island.slots, island.solution_bar.velocity);
    island.solution.displacement.resize(0);
    if (solution.displacement.size() > 0) {
      gather(solution.displacement, island.slots, island.solution.displacement);
      gather(solution_bar.displacement, island.slots, island.solution_bar.displacement);
    }
    island.bar.set_zero(part);
    solver_->vjp(part, island.solution, island.solution_bar, island.solver, island.bar);

    for (std::size_t k = 0; k < island.slots.size(); ++k) {
      const auto slot = at(island.slots[k]);
      const Eigen::Index to = 6 * static_cast<Eigen::Index>(slot), from = 6 * static_cast<Eigen::Index>(k);
      bar.v_start.segment<6>(to) += island.bar.v_start.segment<6>(from);
      bar.v_free.segment<6>(to) += island.bar.v_free.segment<6>(from);
      bar.inertia_W[slot] += island.bar.inertia_W[k];
      bar.mass[slot] += island.bar.mass[k];
    }
    bar.h += island.bar.h;
    for (std::size_t k = 0; k < island.pairs.size(); ++k) {
      const auto p = at(island.pairs[k]);
      const auto begin = at(problem.rows.pairs[p].begin), first = at(island.rows.pairs[k].begin),
                 count = at(problem.rows.pairs[p].end) - begin;
      for (std::size_t r = 0; r < count; ++r) bar.rows[begin + r] = island.bar.rows[first + r];
      bar.pairs[p] = island.bar.pairs[k];
    }
    for (std::size_t k = 0; k < island.joints.size(); ++k) {
      const JointGroup &to = problem.joints.groups[at(island.joints[k])], &from = island.joint_rows.groups[k];
      std::copy(island.bar.joints.begin() + from.begin, island.bar.joints.begin() + from.end,
                bar.joints.begin() + to.begin);
    }
  }
}

}  // namespace abut
