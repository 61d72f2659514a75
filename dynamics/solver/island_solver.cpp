#include "dynamics/solver/island_solver.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

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

/// The same of rows in the order of those of a problem.
void select_start_rows(const ContactProblem& problem, const Island& island, std::vector<ContactRow>& rows) {
  rows.clear();
  if (!problem.has_moved_rows()) return;
  for (std::size_t k = 0; k < island.pairs.size(); ++k) {
    const RowPair &pair = problem.rows.pairs[at(island.pairs[k])], &part = island.rows.pairs[k];
    for (int i = pair.begin; i < pair.end; ++i) {
      ContactRow& row = rows.emplace_back(problem.start_rows[at(i)]);
      row.slot_A = part.slot_A;
      row.slot_B = part.slot_B;
    }
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
int whole_row(const ContactRows& whole, const Island& island, int row) {
  const auto pair = at(island.rows.rows[at(row)].pair);
  return whole.pairs[at(island.pairs[pair])].begin + row - island.rows.pairs[pair].begin;
}

ContactProblem problem_of(const Island& island, const ContactProblem& whole) {
  return {island.mass,     island.rows,       island.v_start, island.v_free, whole.h,
          whole.nominal_h, island.joint_rows, whole.impacts,  whole.lag,     island.start_rows};
}

/// Calls f(begin of the whole, begin of the part, count) for the contact rows of each pair of an island ...
template <typename F>
void each_pair(const ContactRows& whole, const Island& island, const F& f) {
  for (std::size_t k = 0; k < island.pairs.size(); ++k) {
    const RowPair &pair = whole.pairs[at(island.pairs[k])], &part = island.rows.pairs[k];
    f(at(pair.begin), at(part.begin), at(pair.end - pair.begin));
  }
}

/// ... and f(slot of the whole, slot of the part) for each body of it.
template <typename F>
void each_slot(const Island& island, const F& f) {
  for (std::size_t k = 0; k < island.slots.size(); ++k) f(at(island.slots[k]), k);
}

void gather(const ContactSolution& whole, Island& island) {
  ContactSolution& part = island.solution;
  part.reset();
  gather(whole.velocity, island.slots, part.velocity);
  if (whole.push_out.size() > 0) gather(whole.push_out, island.slots, part.push_out);
  if (whole.displacement.size() > 0) gather(whole.displacement, island.slots, part.displacement);
}

void gather(const ContactProblemDot& whole, const ContactProblem& problem, const Island& island,
            ContactProblemDot& part) {
  gather(whole.v_start, island.slots, part.v_start);
  gather(whole.v_free, island.slots, part.v_free);
  part.joint_impulses.resize(0);
  if (!island.joints.empty()) gather(whole.joint_impulses, island.slots, part.joint_impulses);
  part.inertia_W.resize(island.slots.size());
  part.mass.resize(island.slots.size());
  each_slot(island, [&](std::size_t from, std::size_t to) {
    part.inertia_W[to] = whole.inertia_W[from];
    part.mass[to] = whole.mass[from];
  });
  const auto gather_rows = [&](const std::vector<ContactRowBar>& of_whole,
                               std::vector<ContactRowBar>& of_part) {
    of_part.resize(of_whole.empty() ? 0 : island.rows.rows.size());
    if (of_whole.empty()) return;
    each_pair(problem.rows, island, [&](std::size_t from, std::size_t to, std::size_t count) {
      std::copy_n(of_whole.begin() + static_cast<std::ptrdiff_t>(from), count,
                  of_part.begin() + static_cast<std::ptrdiff_t>(to));
    });
  };
  gather_rows(whole.rows, part.rows);
  gather_rows(whole.start_rows, part.start_rows);
  part.pairs.clear();
  for (const int pair : island.pairs) part.pairs.push_back(whole.pairs[at(pair)]);
}

void scatter(const ContactProblemBar& part, const ContactProblem& problem, const Island& island,
             ContactProblemBar& whole) {
  each_slot(island, [&](std::size_t to, std::size_t from) {
    const Eigen::Index i = 6 * static_cast<Eigen::Index>(to), k = 6 * static_cast<Eigen::Index>(from);
    whole.v_start.segment<6>(i) += part.v_start.segment<6>(k);
    whole.v_free.segment<6>(i) += part.v_free.segment<6>(k);
    whole.inertia_W[to] += part.inertia_W[from];
    whole.mass[to] += part.mass[from];
  });
  whole.h += part.h;
  const auto scatter_rows = [&](const std::vector<ContactRowBar>& of_part,
                                std::vector<ContactRowBar>& of_whole) {
    if (of_part.empty()) return;
    each_pair(problem.rows, island, [&](std::size_t to, std::size_t from, std::size_t count) {
      std::copy_n(of_part.begin() + static_cast<std::ptrdiff_t>(from), count,
                  of_whole.begin() + static_cast<std::ptrdiff_t>(to));
    });
  };
  scatter_rows(part.rows, whole.rows);
  scatter_rows(part.start_rows, whole.start_rows);
  for (std::size_t k = 0; k < island.pairs.size(); ++k) whole.pairs[at(island.pairs[k])] = part.pairs[k];
  for (std::size_t k = 0; k < island.joints.size(); ++k) {
    const JointGroup &to = problem.joints.groups[at(island.joints[k])], &from = island.joint_rows.groups[k];
    std::copy(part.joints.begin() + from.begin, part.joints.begin() + from.end,
              whole.joints.begin() + to.begin);
  }
}

/// A displacement that not all islands have: 0 elsewhere.
void scatter_displacement(const Eigen::VectorXd& part, const Island& island, Eigen::Index size,
                          Eigen::VectorXd& whole) {
  if (part.size() == 0) return;
  if (whole.size() == 0) whole.setZero(size);
  scatter(part, island.slots, whole);
}

/// What the solution of a part says beyond its velocities.
void add_report(const ContactSolution& part, ContactSolution& whole) {
  whole.iterations = std::max(whole.iterations, part.iterations);
  whole.factorizations = std::max(whole.factorizations, part.factorizations);
  whole.residual = std::isfinite(part.residual) ? std::max(whole.residual, part.residual) : part.residual;
  whole.path = std::max(whole.path, part.path);
  whole.has_negative_determinant |= part.has_negative_determinant;
  whole.converged = whole.converged && part.converged;
}

/// The way back of bodies that nothing touches, and of each island: vjp(problem, solution, linearization,
/// dL/d(solution), memory, dL/d(problem), the island or null for all there is). memory_of(slots) is that of
/// an island of this size.
template <typename MemoryOf, typename Vjp>
void each_vjp(const ContactProblem& problem, const ContactSolution& solution,
              const IslandLinearization& linearization, const EndMotionBar& solution_bar,
              const MemoryOf& memory_of, ContactProblemBar& bar, const Vjp& vjp) {
  const Islands& islands = linearization.islands;
  const int slots = problem.mass.slot_count();
  if (islands.is_whole()) {
    vjp(problem, solution, *linearization.parts[0], solution_bar, memory_of(slots), bar, nullptr);
    return;
  }
  for (int slot = 0; slot < slots; ++slot) {
    if (!islands.is_touched(slot))
      bar.v_free.segment<6>(6 * slot) += solution_bar.velocity.segment<6>(6 * slot);
  }
  for (std::size_t k = 0; k < islands.members().size(); ++k) {
    const Island& island = *islands.members()[k];
    const ContactProblem part = problem_of(island, problem);
    IslandMemory::OfSize& of_size = memory_of(island.mass.slot_count());
    gather(solution_bar.velocity, island.slots, of_size.end.velocity);
    if (solution.displacement.size() > 0)
      gather(solution_bar.displacement, island.slots, of_size.end.displacement);
    of_size.bar.set_zero(part);
    vjp(part, island.solution, *linearization.parts[k], of_size.end, of_size, of_size.bar, &island);
    scatter(of_size.bar, problem, island, bar);
  }
}

}  // namespace

Island& Islands::Pool::next() {
  if (in_use == islands.size()) islands.emplace_back();
  return islands[in_use++];
}

void Islands::split(const ContactProblem& problem) {
  const int slots = problem.mass.slot_count();
  parent_.resize(at(slots));
  std::iota(parent_.begin(), parent_.end(), 0);
  island_of_slot_.assign(at(slots), -1);
  const auto touch = [&](int slot) {
    if (slot >= 0) island_of_slot_[at(slot)] = 0;
  };
  const auto tie = [&](int slot_A, int slot_B) {
    touch(slot_A);
    touch(slot_B);
    if (slot_A < 0 || slot_B < 0) return;
    const int a = root_of(parent_, slot_A), b = root_of(parent_, slot_B);
    parent_[at(std::max(a, b))] = std::min(a, b);
  };
  for (const RowPair& pair : problem.rows.pairs) tie(pair.slot_A, pair.slot_B);
  for (const JointGroup& group : problem.joints.groups) tie(group.slot_A, group.slot_B);
  size_of_root_.assign(at(slots), 0);
  for (int slot = 0; slot < slots; ++slot) {
    if (island_of_slot_[at(slot)] == 0) ++size_of_root_[at(root_of(parent_, slot))];
  }
  members_.clear();
  has_joints_ = !problem.joints.empty();
  is_whole_ = slots > 0 && size_of_root_[0] == slots;
  if (is_whole_) return;
  for (Pool& pool : pools_) pool.in_use = 0;
  if (pools_.size() <= at(slots)) pools_.resize(at(slots) + 1);
  local_slot_.assign(at(slots), -1);
  for (int slot = 0; slot < slots; ++slot) {
    if (island_of_slot_[at(slot)] < 0) continue;
    const int root = root_of(parent_, slot);
    if (root == slot) {  // the lowest slot of its island
      Island& island = pools_[at(size_of_root_[at(slot)])].next();
      island.slots.clear();
      island.pairs.clear();
      island.joints.clear();
      island_of_slot_[at(slot)] = static_cast<int>(members_.size());
      members_.push_back(&island);
    }
    const int index = island_of_slot_[at(slot)] = island_of_slot_[at(root)];
    Island& island = *members_[at(index)];
    local_slot_[at(slot)] = static_cast<int>(island.slots.size());
    island.slots.push_back(slot);
  }
  const auto island = [&](int slot_A, int slot_B) -> Island& {
    return *members_[at(island_of(slot_A, slot_B))];
  };
  for (std::size_t p = 0; p < problem.rows.pairs.size(); ++p) {
    const RowPair& pair = problem.rows.pairs[p];
    island(pair.slot_A, pair.slot_B).pairs.push_back(static_cast<int>(p));
  }
  for (std::size_t j = 0; j < problem.joints.groups.size(); ++j) {
    const JointGroup& group = problem.joints.groups[j];
    island(group.slot_A, group.slot_B).joints.push_back(static_cast<int>(j));
  }
  for (Island* const member : members_) {
    member->mass.select(problem.mass, member->slots);
    select_rows(problem.rows, member->pairs, local_slot_, member->rows);
    select_start_rows(problem, *member, member->start_rows);
    select_joints(problem.joints, member->joints, local_slot_, member->joint_rows);
    gather(problem.v_start, member->slots, member->v_start);
    gather(problem.v_free, member->slots, member->v_free);
  }
}

std::pair<std::size_t, std::size_t> Islands::place_of(const RowPair& pair, std::size_t index) const {
  const std::size_t member = at(island_of(pair.slot_A, pair.slot_B));
  const std::vector<int>& pairs = members_[member]->pairs;
  const auto place = std::lower_bound(pairs.begin(), pairs.end(), static_cast<int>(index));
  return {member, static_cast<std::size_t>(place - pairs.begin())};
}

std::size_t Islands::bytes() const {
  std::size_t sum = 0;
  for (const Island* const island : members_) {
    sum += sizeof(Island) + sizeof(ContactRow) * (island->rows.rows.size() + island->start_rows.size()) +
           sizeof(RowPair) * island->rows.pairs.size() + sizeof(JointRow) * island->joint_rows.rows.size();
  }
  return sum;
}

std::size_t IslandLinearization::bytes() const {
  std::size_t sum = islands.bytes();
  for (const auto& part : parts) sum += part->bytes();
  return sum;
}

bool IslandLinearization::has_negative_determinant() const {
  const auto count = static_cast<std::ptrdiff_t>(islands.is_whole() ? 1 : islands.members().size());
  return std::any_of(parts.begin(), parts.begin() + count,
                     [](const auto& part) { return part->has_negative_determinant(); });
}

SolutionLinearization& IslandSolver::part_of(std::size_t k, IslandLinearization& linearization) const {
  const std::type_index law = typeid(*solver_);
  if (linearization.law != law) linearization.parts.clear();
  linearization.law = law;
  while (linearization.parts.size() <= k) linearization.parts.push_back(solver_->make_linearization());
  return *linearization.parts[k];
}

IslandMemory::OfSize& IslandSolver::memory_of(int slots, IslandMemory& memory) const {
  const std::type_index law = typeid(*solver_);
  if (memory.law != law) memory.of_size.clear();
  memory.law = law;
  if (memory.of_size.size() <= at(slots)) memory.of_size.resize(at(slots) + 1);
  IslandMemory::OfSize& of_size = memory.of_size[at(slots)];
  if (!of_size.of_law) of_size.of_law = solver_->make_memory();
  return of_size;
}

void IslandSolver::solve(const ContactProblem& problem, IslandMemory& memory, ContactSolution& solution,
                         IslandLinearization* keep) const {
  memory.unconverged_slots.clear();
  memory.islands.split(problem);
  const auto solve_one = [&](const ContactProblem& part, std::size_t k, ContactSolution& its_solution) {
    SolverMemory& of_law = *memory_of(part.mass.slot_count(), memory).of_law;
    solver_->solve(part, of_law, its_solution);
    if (keep == nullptr || !keep->is_complete) return;
    try {
      if (its_solution.converged) solver_->linearize_solved(part, its_solution, of_law, part_of(k, *keep));
      keep->is_complete = its_solution.converged;
    } catch (const std::logic_error&) {  // no derivative, which is for those to know who ask for one
      keep->is_complete = false;
    }
  };
  if (keep != nullptr) keep->is_complete = true;
  if (memory.islands.is_whole()) {
    solve_one(problem, 0, solution);
    if (keep != nullptr) std::swap(keep->islands, memory.islands);
    return;
  }
  solution.reset();
  solution.velocity = problem.v_free;
  for (std::size_t k = 0; k < memory.islands.members().size(); ++k) {
    Island& island = *memory.islands.members()[k];
    const ContactSolution& part = island.solution;
    solve_one(problem_of(island, problem), k, island.solution);
    scatter(part.velocity, island.slots, solution.velocity);
    if (part.push_out.size() > 0) {
      if (solution.push_out.size() == 0) solution.push_out = problem.v_free;
      scatter(part.push_out, island.slots, solution.push_out);
    }
    scatter_displacement(part.displacement, island, problem.mass.size(), solution.displacement);
    if (part.impact_row >= 0 && (solution.impact_row < 0 || part.impact_time < solution.impact_time)) {
      solution.impact_row = whole_row(problem.rows, island, part.impact_row);
      solution.impact_time = part.impact_time;
    }
    if (solution.converged && !part.converged) memory.unconverged_slots = island.slots;
    add_report(part, solution);
  }
  if (keep != nullptr) std::swap(keep->islands, memory.islands);
}

void IslandSolver::linearize(const ContactProblem& problem, const ContactSolution& solution,
                             LinearizeFor what_for, IslandMemory& memory,
                             IslandLinearization& linearization) const {
  Islands& islands = linearization.islands;
  islands.split(problem);
  if (islands.is_whole()) {
    solver_->linearize(problem, solution, what_for, *memory_of(problem.mass.slot_count(), memory).of_law,
                       part_of(0, linearization));
    linearization.is_complete = true;
    return;
  }
  for (std::size_t k = 0; k < islands.members().size(); ++k) {
    Island& island = *islands.members()[k];
    gather(solution, island);
    solver_->linearize(problem_of(island, problem), island.solution, what_for,
                       *memory_of(island.mass.slot_count(), memory).of_law, part_of(k, linearization));
  }
  linearization.is_complete = true;
}

void IslandSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                       const IslandLinearization& linearization, const EndMotionBar& solution_bar,
                       IslandMemory& memory, ContactProblemBar& bar) const {
  each_vjp(
      problem, solution, linearization, solution_bar,
      [&](int slots) -> IslandMemory::OfSize& { return memory_of(slots, memory); }, bar,
      [&](const ContactProblem& part, const ContactSolution& its_solution, const SolutionLinearization& at,
          const EndMotionBar& end, IslandMemory::OfSize& of_size, ContactProblemBar& its_bar,
          const Island*) { solver_->vjp(part, its_solution, at, end, *of_size.of_law, its_bar); });
}

bool IslandSolver::has_pair_vjp(const IslandLinearization& linearization) const {
  const auto has = [&](std::size_t k) { return solver_->has_pair_vjp(*linearization.parts[k]); };
  const Islands& islands = linearization.islands;
  if (islands.is_whole()) return has(0);
  for (std::size_t k = 0; k < islands.members().size(); ++k) {
    if (!has(k)) return false;
  }
  return true;
}

void IslandSolver::multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                  const IslandLinearization& linearization, const EndMotionBar& solution_bar,
                                  IslandMemory& memory, ContactProblemBar& bar, Eigen::VectorXd& w) const {
  if (!linearization.islands.is_whole()) w.setZero(problem.mass.size());
  each_vjp(
      problem, solution, linearization, solution_bar,
      [&](int slots) -> IslandMemory::OfSize& { return memory_of(slots, memory); }, bar,
      [&](const ContactProblem& part, const ContactSolution& its_solution, const SolutionLinearization& at,
          const EndMotionBar& end, IslandMemory::OfSize& of_size, ContactProblemBar& its_bar,
          const Island* island) {
        Eigen::VectorXd& its_w = island == nullptr ? w : of_size.multiplier;
        solver_->multiplier_vjp(part, its_solution, at, end, *of_size.of_law, its_bar, its_w);
        if (island != nullptr) scatter(its_w, island->slots, w);
      });
}

Vec3<double> IslandSolver::pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                    const IslandLinearization& linearization, std::size_t pair,
                                    const Vec6<double>& W, IslandMemory& memory,
                                    ContactProblemBar& bar) const {
  const Islands& islands = linearization.islands;
  if (islands.is_whole()) {
    return solver_->pair_vjp(problem, solution, *linearization.parts[0], pair, W,
                             *memory_of(problem.mass.slot_count(), memory).of_law, bar);
  }
  const RowPair& whole_pair = problem.rows.pairs[pair];
  const auto [member, place] = islands.place_of(whole_pair, pair);
  const Island& island = *islands.members()[member];
  const ContactProblem part = problem_of(island, problem);
  IslandMemory::OfSize& of_size = memory_of(island.mass.slot_count(), memory);
  of_size.bar.set_zero(part);
  const Vec3<double> impulse = solver_->pair_vjp(part, island.solution, *linearization.parts[member], place,
                                                 W, *of_size.of_law, of_size.bar);
  const int from = island.rows.pairs[place].begin;
  for (int i = whole_pair.begin; i < whole_pair.end; ++i)
    bar.rows[at(i)] += of_size.bar.rows[at(from + i - whole_pair.begin)];
  bar.pairs[pair] += of_size.bar.pairs[place];
  return impulse;
}

void IslandSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                       const IslandLinearization& linearization, const ContactProblemDot& dot,
                       IslandMemory& memory, EndMotionBar& solution_dot) const {
  const Islands& islands = linearization.islands;
  if (islands.is_whole()) {
    solver_->jvp(problem, solution, *linearization.parts[0], dot,
                 *memory_of(problem.mass.slot_count(), memory).of_law, solution_dot);
    return;
  }
  solution_dot.velocity = dot.v_free;
  solution_dot.displacement.resize(0);
  for (std::size_t k = 0; k < islands.members().size(); ++k) {
    const Island& island = *islands.members()[k];
    IslandMemory::OfSize& of_size = memory_of(island.mass.slot_count(), memory);
    gather(dot, problem, island, of_size.dot);
    solver_->jvp(problem_of(island, problem), island.solution, *linearization.parts[k], of_size.dot,
                 *of_size.of_law, of_size.end);
    scatter(of_size.end.velocity, island.slots, solution_dot.velocity);
    scatter_displacement(of_size.end.displacement, island, problem.mass.size(), solution_dot.displacement);
  }
}

void IslandSolver::flag_islands_near_kink(const ContactProblem& problem,
                                          const IslandLinearization& linearization,
                                          std::vector<bool>& near_kink) const {
  const Islands& islands = linearization.islands;
  if (islands.is_whole()) {
    if (linearization.parts[0]->is_near_kink()) std::fill(near_kink.begin(), near_kink.end(), true);
    return;
  }
  for (std::size_t k = 0; k < islands.members().size(); ++k) {
    if (!linearization.parts[k]->is_near_kink()) continue;
    each_pair(problem.rows, *islands.members()[k], [&](std::size_t begin, std::size_t, std::size_t count) {
      std::fill_n(near_kink.begin() + static_cast<std::ptrdiff_t>(begin), count, true);
    });
  }
}

void IslandSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                            IslandMemory& memory, std::vector<Vec3<double>>& impulses) const {
  solver_->impulses(problem, solution, *memory_of(problem.mass.slot_count(), memory).of_law, impulses);
}

}  // namespace abut
