#include "dynamics/solver/island_solver.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace abut {
namespace {

/// Islands of 2^(c-1) to 2^c - 1 slots are of class c: memory for the largest of a class is at most about
/// twice what each of them needs, and that for all classes about twice that of the largest.
std::size_t capacity_class(int slots) { return std::bit_width(static_cast<unsigned>(slots)); }

void gather(const GrowableVector& whole, std::span<const int> slots, GrowableVector& part) {
  part.resize(6 * static_cast<Eigen::Index>(slots.size()));
  for (std::size_t i = 0; i < slots.size(); ++i)
    part.segment<6>(6 * static_cast<Eigen::Index>(i)) = whole.segment<6>(6 * slots[i]);
}

void scatter(const GrowableVector& part, std::span<const int> slots, GrowableVector& whole) {
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
  for (const int j : groups) joints.append(whole, whole.groups[at(j)], local_slot);
}

ContactProblem problem_of(const Island& island, const ContactProblem& whole) {
  ContactProblem part{island.mass, island.rows,       island.v_start, island.v_free,
                      whole.h,     island.joint_rows, whole.lag};
  if (whole.v_lead != nullptr) part.v_lead = &island.v_lead;
  return part;
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
  if (problem.v_lead != nullptr) gather(whole.v_lead, island.slots, part.v_lead);
  part.joint_impulses.resize(0);
  if (!island.joints.empty()) gather(whole.joint_impulses, island.slots, part.joint_impulses);
  part.inertia_W.resize(island.slots.size());
  part.mass.resize(island.slots.size());
  each_slot(island, [&](std::size_t from, std::size_t to) {
    part.inertia_W[to] = whole.inertia_W[from];
    part.mass[to] = whole.mass[from];
  });
  part.rows.resize(island.rows.rows.size());
  each_pair(problem.rows, island, [&](std::size_t from, std::size_t to, std::size_t count) {
    std::copy_n(whole.rows.begin() + static_cast<std::ptrdiff_t>(from), count,
                part.rows.begin() + static_cast<std::ptrdiff_t>(to));
  });
  part.links.clear();
  for (const int link : island.links) part.links.push_back(whole.links[at(link)]);
  part.pairs.clear();
  for (const int pair : island.pairs) part.pairs.push_back(whole.pairs[at(pair)]);
}

void scatter(const ContactProblemBar& part, const ContactProblem& problem, const Island& island,
             ContactProblemBar& whole) {
  each_slot(island, [&](std::size_t to, std::size_t from) {
    const Eigen::Index i = 6 * static_cast<Eigen::Index>(to), k = 6 * static_cast<Eigen::Index>(from);
    whole.v_start.segment<6>(i) += part.v_start.segment<6>(k);
    whole.v_free.segment<6>(i) += part.v_free.segment<6>(k);
    if (part.v_lead.size() > 0) whole.v_lead.segment<6>(i) += part.v_lead.segment<6>(k);
    whole.inertia_W[to] += part.inertia_W[from];
    whole.mass[to] += part.mass[from];
  });
  each_pair(problem.rows, island, [&](std::size_t to, std::size_t from, std::size_t count) {
    std::copy_n(part.rows.begin() + static_cast<std::ptrdiff_t>(from), count,
                whole.rows.begin() + static_cast<std::ptrdiff_t>(to));
  });
  for (std::size_t k = 0; k < island.pairs.size(); ++k) whole.pairs[at(island.pairs[k])] = part.pairs[k];
  for (std::size_t k = 0; k < island.joints.size(); ++k)
    whole.joints.add(problem.joints.groups[at(island.joints[k])], part.joints, island.joint_rows.groups[k]);
  for (std::size_t k = 0; k < island.links.size(); ++k) whole.links[at(island.links[k])] += part.links[k];
}

/// A displacement that not all islands have: 0 elsewhere.
void scatter_displacement(const GrowableVector& part, const Island& island, Eigen::Index size,
                          GrowableVector& whole) {
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
/// an island of so many.
template <typename MemoryOf, typename Vjp>
void each_vjp(const ContactProblem& problem, const ContactSolution& solution,
              const IslandLinearization& linearization, const EndMotionBar& solution_bar,
              const MemoryOf& memory_of, ContactProblemBar& bar, const Vjp& vjp) {
  const Islands& islands = linearization.islands;
  const int slots = problem.mass.slot_count();
  if (islands.is_whole()) {
    vjp(problem, solution, *linearization.parts[0]->of_law, solution_bar, memory_of(slots), bar, nullptr);
    return;
  }
  for (int slot = 0; slot < slots; ++slot) {
    if (!islands.is_touched(slot))
      bar.v_free.segment<6>(6 * slot) += solution_bar.velocity.segment<6>(6 * slot);
  }
  for (const IslandLinearization::Part* const linearized : linearization.parts) {
    const Island& island = linearized->island;
    const ContactProblem part = problem_of(island, problem);
    IslandMemory::OfClass& of_class = memory_of(island.mass.slot_count());
    gather(solution_bar.velocity, island.slots, of_class.end.velocity);
    if (solution.displacement.size() > 0)
      gather(solution_bar.displacement, island.slots, of_class.end.displacement);
    of_class.bar.set_zero(part);
    vjp(part, island.solution, *linearized->of_law, of_class.end, of_class, of_class.bar, &island);
    scatter(of_class.bar, problem, island, bar);
  }
}

}  // namespace

template <typename IslandOf>
void Islands::Lists::assign(std::size_t lists, std::size_t indices, const IslandOf& island_of) {
  begin_.assign(lists + 1, 0);
  for (std::size_t i = 0; i < indices; ++i) {
    const int island = island_of(i);
    if (island >= 0) ++begin_[at(island) + 1];
  }
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  indices_.resize(at(begin_.back()));
  for (std::size_t i = 0; i < indices; ++i) {  // moves each begin to the next one's place ...
    const int island = island_of(i);
    if (island >= 0) indices_[at(begin_[at(island)]++)] = static_cast<int>(i);
  }
  std::rotate(begin_.begin(), begin_.end() - 1, begin_.end());  // ... and back
  begin_.front() = 0;
}

void Islands::split(const ContactProblem& problem) {
  const int slots = problem.mass.slot_count();
  const LinkMotions& links = problem.mass.links();
  sets_.reset(slots);
  for (const RowPair& pair : problem.rows.pairs) sets_.tie(pair.slot_A, pair.slot_B);
  for (const JointGroup& group : problem.joints.groups) sets_.tie(problem.joints.slots_of(group));
  const bool has_rows = !problem.rows.pairs.empty() || !problem.joints.groups.empty();
  for (const LinkMotion& link : links) {
    if (has_rows) sets_.tie(link.parent, link.slot);
  }
  is_touched_.assign(at(slots), 0);
  const auto touch = [&](int slot) {
    if (slot >= 0) is_touched_[at(sets_.root(slot))] = 1;
  };
  for (const RowPair& pair : problem.rows.pairs) touch(std::max(pair.slot_A, pair.slot_B));
  for (const JointGroup& group : problem.joints.groups) touch(problem.joints.moving_slot(group));
  island_of_slot_.assign(at(slots), -1);
  int count = 0;
  is_whole_ = slots > 0;
  for (int slot = 0; slot < slots; ++slot) {
    const int root = sets_.root(slot);
    if (root != 0 || is_touched_[at(root)] == 0) is_whole_ = false;
    if (is_touched_[at(root)] == 0) continue;
    // The root is the lowest slot of its island, and has its number already.
    island_of_slot_[at(slot)] = root == slot ? count++ : island_of_slot_[at(root)];
  }
  slots_.clear();
  if (is_whole_) return;
  const auto lists = at(count);
  slots_.assign(lists, at(slots), [&](std::size_t slot) { return island_of_slot_[slot]; });
  pairs_.assign(lists, problem.rows.pairs.size(), [&](std::size_t p) {
    return island_of(problem.rows.pairs[p].slot_A, problem.rows.pairs[p].slot_B);
  });
  joints_.assign(lists, problem.joints.groups.size(), [&](std::size_t j) {
    return island_of_slot_[at(problem.joints.moving_slot(problem.joints.groups[j]))];
  });
  links_.assign(lists, links.size(), [&](std::size_t k) { return island_of_slot_[at(links[k].slot)]; });
  local_slot_.assign(at(slots), -1);
  for (std::size_t k = 0; k < lists; ++k) {
    for (std::size_t i = 0; i < slots_[k].size(); ++i) local_slot_[at(slots_[k][i])] = static_cast<int>(i);
  }
}

void Islands::select(const ContactProblem& problem, std::size_t island, Island& out) const {
  out.slots = slots_[island];
  out.pairs = pairs_[island];
  out.joints = joints_[island];
  out.links = links_[island];
  out.mass.select(problem.mass, out.slots, out.links, local_slot_);
  select_rows(problem.rows, out.pairs, local_slot_, out.rows);
  select_joints(problem.joints, out.joints, local_slot_, out.joint_rows);
  gather(problem.v_start, out.slots, out.v_start);
  gather(problem.v_free, out.slots, out.v_free);
  if (problem.v_lead != nullptr) gather(*problem.v_lead, out.slots, out.v_lead);
}

std::pair<std::size_t, std::size_t> Islands::place_of(const RowPair& pair, std::size_t index) const {
  const std::size_t island = at(island_of(pair.slot_A, pair.slot_B));
  const std::span<const int> pairs = pairs_[island];
  const auto place = std::lower_bound(pairs.begin(), pairs.end(), static_cast<int>(index));
  return {island, static_cast<std::size_t>(place - pairs.begin())};
}

void IslandLinearization::clear(std::type_index of_law) {
  if (law != of_law) pools_.clear();
  law = of_law;
  parts.clear();
  for (Pool& pool : pools_) pool.in_use = 0;
}

IslandLinearization::Part& IslandLinearization::add_part(const ContactSolver& solver, int slots) {
  const std::size_t c = capacity_class(slots);
  if (pools_.size() <= c) pools_.resize(c + 1);
  Pool& pool = pools_[c];
  if (pool.in_use == pool.parts.size()) {
    pool.parts.push_back(std::make_unique<Part>());
    pool.parts.back()->of_law = solver.make_linearization();
  }
  return *parts.emplace_back(pool.parts[pool.in_use++].get());
}

std::size_t IslandLinearization::bytes() const {
  std::size_t sum = 0;
  for (const Part* const part : parts) {
    const Island& island = part->island;
    sum += part->of_law->bytes();
    if (islands.is_whole()) continue;
    sum += sizeof(Island) + sizeof(ContactRow) * island.rows.rows.size() +
           sizeof(RowPair) * island.rows.pairs.size() + sizeof(JointRow) * island.joint_rows.rows.size();
  }
  return sum;
}

bool IslandLinearization::has_negative_determinant() const {
  return std::any_of(parts.begin(), parts.end(),
                     [](const Part* part) { return part->of_law->has_negative_determinant(); });
}

IslandMemory::OfClass& IslandSolver::memory_of(int slots, IslandMemory& memory) const {
  const std::type_index law = typeid(*solver_);
  if (memory.law != law) memory.of_class.clear();
  memory.law = law;
  const std::size_t c = capacity_class(slots);
  if (memory.of_class.size() <= c) memory.of_class.resize(c + 1);
  IslandMemory::OfClass& of_class = memory.of_class[c];
  if (!of_class.of_law) of_class.of_law = solver_->make_memory();
  return of_class;
}

void IslandSolver::solve(const ContactProblem& problem, IslandMemory& memory, ContactSolution& solution,
                         IslandLinearization* keep) const {
  memory.unconverged_slots.clear();
  Islands& islands = keep == nullptr ? memory.islands : keep->islands;
  islands.split(problem);
  if (keep != nullptr) keep->clear(typeid(*solver_));
  const auto solve_one = [&](const ContactProblem& part, SolutionLinearization* linearization,
                             ContactSolution& its_solution) {
    SolverMemory& of_law = *memory_of(part.mass.slot_count(), memory).of_law;
    solver_->solve(part, of_law, its_solution);
    if (linearization == nullptr || !keep->is_complete) return;
    keep->is_complete =
        its_solution.converged && solver_->linearize_solved(part, its_solution, of_law, *linearization);
  };
  if (keep != nullptr) keep->is_complete = true;
  if (islands.is_whole()) {
    const int slots = problem.mass.slot_count();
    solve_one(problem, keep == nullptr ? nullptr : keep->add_part(*solver_, slots).of_law.get(), solution);
    return;
  }
  solution.reset();
  solution.velocity = problem.v_free;
  for (std::size_t k = 0; k < islands.size(); ++k) {
    const int slots = islands.slot_count(k);
    IslandLinearization::Part* const kept = keep == nullptr ? nullptr : &keep->add_part(*solver_, slots);
    Island& island = kept == nullptr ? memory_of(slots, memory).island : kept->island;
    islands.select(problem, k, island);
    const ContactSolution& part = island.solution;
    solve_one(problem_of(island, problem), kept == nullptr ? nullptr : kept->of_law.get(), island.solution);
    scatter(part.velocity, island.slots, solution.velocity);
    if (part.residual > solution.residual) solution.worst_slot = island.slots.front();
    if (part.push_out.size() > 0) {
      if (solution.push_out.size() == 0) solution.push_out = problem.v_free;
      scatter(part.push_out, island.slots, solution.push_out);
    }
    scatter_displacement(part.displacement, island, problem.mass.size(), solution.displacement);
    if (solution.converged && !part.converged)
      memory.unconverged_slots.assign(island.slots.begin(), island.slots.end());
    add_report(part, solution);
  }
}

bool IslandSolver::linearize(const ContactProblem& problem, const ContactSolution& solution,
                             LinearizeFor what_for, IslandMemory& memory,
                             IslandLinearization& linearization) const {
  Islands& islands = linearization.islands;
  islands.split(problem);
  linearization.clear(typeid(*solver_));
  if (islands.is_whole()) {
    const int slots = problem.mass.slot_count();
    linearization.is_complete =
        solver_->linearize(problem, solution, what_for, *memory_of(slots, memory).of_law,
                           *linearization.add_part(*solver_, slots).of_law);
    return linearization.is_complete;
  }
  linearization.is_complete = true;
  for (std::size_t k = 0; k < islands.size(); ++k) {
    const int slots = islands.slot_count(k);
    auto& [island, of_law] = linearization.add_part(*solver_, slots);
    islands.select(problem, k, island);
    gather(solution, island);
    linearization.is_complete &= solver_->linearize(problem_of(island, problem), island.solution, what_for,
                                                    *memory_of(slots, memory).of_law, *of_law);
  }
  return linearization.is_complete;
}

void IslandSolver::vjp(const ContactProblem& problem, const ContactSolution& solution,
                       const IslandLinearization& linearization, const EndMotionBar& solution_bar,
                       IslandMemory& memory, ContactProblemBar& bar) const {
  each_vjp(
      problem, solution, linearization, solution_bar,
      [&](int slots) -> IslandMemory::OfClass& { return memory_of(slots, memory); }, bar,
      [&](const ContactProblem& part, const ContactSolution& its_solution, const SolutionLinearization& at,
          const EndMotionBar& end, IslandMemory::OfClass& of_class, ContactProblemBar& its_bar,
          const Island*) { solver_->vjp(part, its_solution, at, end, *of_class.of_law, its_bar); });
}

bool IslandSolver::has_pair_vjp(const IslandLinearization& linearization) const {
  return std::all_of(
      linearization.parts.begin(), linearization.parts.end(),
      [&](const IslandLinearization::Part* part) { return solver_->has_pair_vjp(*part->of_law); });
}

void IslandSolver::multiplier_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                  const IslandLinearization& linearization, const EndMotionBar& solution_bar,
                                  IslandMemory& memory, ContactProblemBar& bar, GrowableVector& w) const {
  if (!linearization.islands.is_whole()) w.setZero(problem.mass.size());
  each_vjp(
      problem, solution, linearization, solution_bar,
      [&](int slots) -> IslandMemory::OfClass& { return memory_of(slots, memory); }, bar,
      [&](const ContactProblem& part, const ContactSolution& its_solution, const SolutionLinearization& at,
          const EndMotionBar& end, IslandMemory::OfClass& of_class, ContactProblemBar& its_bar,
          const Island* island) {
        GrowableVector& its_w = island == nullptr ? w : of_class.multiplier;
        solver_->multiplier_vjp(part, its_solution, at, end, *of_class.of_law, its_bar, its_w);
        if (island != nullptr) scatter(its_w, island->slots, w);
      });
}

Vec3<double> IslandSolver::pair_vjp(const ContactProblem& problem, const ContactSolution& solution,
                                    const IslandLinearization& linearization, std::size_t pair,
                                    const Vec6<double>& W, IslandMemory& memory,
                                    ContactProblemBar& bar) const {
  const Islands& islands = linearization.islands;
  if (islands.is_whole()) {
    return solver_->pair_vjp(problem, solution, *linearization.parts[0]->of_law, pair, W,
                             *memory_of(problem.mass.slot_count(), memory).of_law, bar);
  }
  const RowPair& whole_pair = problem.rows.pairs[pair];
  const auto [member, place] = islands.place_of(whole_pair, pair);
  const Island& island = linearization.parts[member]->island;
  const ContactProblem part = problem_of(island, problem);
  IslandMemory::OfClass& of_class = memory_of(island.mass.slot_count(), memory);
  of_class.bar.set_zero(part);
  const Vec3<double> impulse = solver_->pair_vjp(part, island.solution, *linearization.parts[member]->of_law,
                                                 place, W, *of_class.of_law, of_class.bar);
  const int from = island.rows.pairs[place].begin;
  for (int i = whole_pair.begin; i < whole_pair.end; ++i)
    bar.rows[at(i)] += of_class.bar.rows[at(from + i - whole_pair.begin)];
  bar.pairs[pair] += of_class.bar.pairs[place];
  return impulse;
}

void IslandSolver::jvp(const ContactProblem& problem, const ContactSolution& solution,
                       const IslandLinearization& linearization, const ContactProblemDot& dot,
                       IslandMemory& memory, EndMotionBar& solution_dot) const {
  const Islands& islands = linearization.islands;
  if (islands.is_whole()) {
    solver_->jvp(problem, solution, *linearization.parts[0]->of_law, dot,
                 *memory_of(problem.mass.slot_count(), memory).of_law, solution_dot);
    return;
  }
  solution_dot.velocity = dot.v_free;
  solution_dot.displacement.resize(0);
  for (const IslandLinearization::Part* const linearized : linearization.parts) {
    const Island& island = linearized->island;
    IslandMemory::OfClass& of_class = memory_of(island.mass.slot_count(), memory);
    gather(dot, problem, island, of_class.dot);
    solver_->jvp(problem_of(island, problem), island.solution, *linearized->of_law, of_class.dot,
                 *of_class.of_law, of_class.end);
    scatter(of_class.end.velocity, island.slots, solution_dot.velocity);
    scatter_displacement(of_class.end.displacement, island, problem.mass.size(), solution_dot.displacement);
  }
}

void IslandSolver::flag_islands_near_kink(const ContactProblem& problem,
                                          const IslandLinearization& linearization,
                                          std::vector<bool>& near_kink) const {
  const Islands& islands = linearization.islands;
  if (islands.is_whole()) {
    if (linearization.parts[0]->of_law->is_near_kink()) std::fill(near_kink.begin(), near_kink.end(), true);
    return;
  }
  for (const IslandLinearization::Part* const part : linearization.parts) {
    if (!part->of_law->is_near_kink()) continue;
    each_pair(problem.rows, part->island, [&](std::size_t begin, std::size_t, std::size_t count) {
      std::fill_n(near_kink.begin() + static_cast<std::ptrdiff_t>(begin), count, true);
    });
  }
}

void IslandSolver::impulses(const ContactProblem& problem, const ContactSolution& solution,
                            IslandMemory& memory, std::vector<Vec3<double>>& impulses) const {
  solver_->impulses(problem, solution, *memory_of(problem.mass.slot_count(), memory).of_law, impulses);
}

void IslandSolver::impulses_by_island(const ContactProblem& problem, const ContactSolution& solution,
                                      const IslandLinearization& linearization, IslandMemory& memory,
                                      std::vector<Vec3<double>>& impulses) const {
  if (linearization.islands.is_whole()) {
    this->impulses(problem, solution, memory, impulses);
    return;
  }
  impulses.assign(problem.rows.rows.size(), Vec3<double>::Zero());
  std::vector<Vec3<double>> of_part;
  for (const IslandLinearization::Part* const part : linearization.parts) {
    const Island& island = part->island;
    solver_->impulses(problem_of(island, problem), island.solution,
                      *memory_of(island.mass.slot_count(), memory).of_law, of_part);
    each_pair(problem.rows, island, [&](std::size_t to, std::size_t from, std::size_t count) {
      std::copy_n(of_part.begin() + static_cast<std::ptrdiff_t>(from), count,
                  impulses.begin() + static_cast<std::ptrdiff_t>(to));
    });
  }
}

}  // namespace abut
