#include "dynamics/kernel/row_blocks.h"

#include <algorithm>

namespace abut {

void RowBlocks::assign(const ContactRows& rows) {
  const auto blocks_of = [](const RowPair& pair) {
    return (pair.end - pair.begin + k_row_lanes - 1) / k_row_lanes;
  };
  int count = 0;
  for (const RowPair& pair : rows.pairs) count += blocks_of(pair);
  blocks.resize(static_cast<std::size_t>(count));
  pairs.clear();
  int next = 0;
  for (const RowPair& pair : rows.pairs) {
    BlockPair& out = pairs.emplace_back();
    out.slot_A = pair.slot_A;
    out.slot_B = pair.slot_B;
    out.begin = next;
    out.end = next += blocks_of(pair);
    out.friction = pair.material.friction;
    out.compliance = pair.material.compliance;
    out.dissipation_time = pair.material.dissipation_time;
    out.turning = pair.turning;
    const ContactRow& first = rows.rows[static_cast<std::size_t>(pair.begin)];
    if (out.both_move()) out.shift = first.r_B - first.r_A;  // r_B = r_A + p_A - p_B
    const bool about_A = pair.slot_A >= 0;
    const auto at_centre = [](const Vec6<double>& V, const Vec3<double>& from) {
      return stack<double>(V.head<3>(), point_velocity<double>(V, from));
    };
    if (pair.slot_B < 0) out.drift += at_centre(pair.V_B, first.r_B - first.r_A);
    if (pair.slot_A < 0) out.drift -= at_centre(pair.V_A, first.r_A - first.r_B);
    for (int i = pair.begin; i < pair.begin + k_row_lanes * blocks_of(pair); ++i) {
      const ContactRow& row = rows.rows[static_cast<std::size_t>(std::min(i, pair.end - 1))];
      const Vec3<double>& r = about_A ? row.r_A : row.r_B;
      RowBlock& block = blocks[at(out.begin + (i - pair.begin) / k_row_lanes)];
      const int lane = (i - pair.begin) % k_row_lanes;
      for (int k = 0; k < 3; ++k) {
        block.n[k][lane] = row.n[k];
        block.r[k][lane] = r[k];
      }
      block.distance[lane] = row.distance;
      block.weight[lane] = i < pair.end ? row.weight : 0.0;
      block.inverse_mass[lane] = row.inverse_mass;
    }
  }
}

void RowBlocks::set_bounds() {
  for (const BlockPair& pair : pairs) {
    for (RowBlock& block : of(pair)) {
      for (int lane = 0; lane < k_row_lanes; ++lane) block.bound[lane] = pair.friction * block.impulse[lane];
    }
  }
}

}  // namespace abut
