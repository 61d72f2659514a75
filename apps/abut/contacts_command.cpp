#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <CLI/CLI.hpp>

#include "apps/abut/commands.h"
#include "apps/abut/report.h"
#include "collision/fitting/shape_surface.h"
#include "collision/fitting/surface_cache.h"
#include "dynamics/simulator.h"
#include "engine/input_error.h"
#include "engine/scene_io.h"

namespace abut {
namespace {

struct ContactsArguments {
  std::filesystem::path scene;
  bool all = false, json = false;
};

constexpr double k_least_activity = 1e-3;  // of contacts that are listed without --all

const char* to_string(ContactKind kind) {
  switch (kind) {
    case ContactKind::vertex_sdf:
      return "vertex_sdf";
    case ContactKind::edge_edge:
      return "edge_edge";
    case ContactKind::edge_sdf:
      return "edge_sdf";
    case ContactKind::convex_parts:
      return "convex_parts";
    case ContactKind::triangle_sdf:
      return "triangle_sdf";
    case ContactKind::blended:
      return "blended";
  }
  return "unknown";
}

/// Leaves out what is fainter than `least`, and says how many contacts that were.
std::size_t drop_faint(ContactManifold& manifold, double least) {
  ContactManifold kept;
  for (ContactPair pair : manifold.pairs) {
    const int begin = pair.begin, end = pair.end;
    pair.begin = static_cast<int>(kept.contacts.size());
    for (int i = begin; i < end; ++i) {
      const Contact contact = manifold.contacts[static_cast<std::size_t>(i)];
      if (contact.activity >= least) kept.contacts.push_back(contact);
    }
    pair.end = static_cast<int>(kept.contacts.size());
    if (pair.end > pair.begin) kept.pairs.push_back(pair);
  }
  std::swap(kept, manifold);
  return kept.contacts.size() - manifold.contacts.size();
}

/// Calls visit(name of A, name of B, contacts) for every pair of a manifold.
template <typename Visit>
void for_each_pair(const Model& model, const ContactManifold& manifold, const Visit& visit) {
  for (const ContactPair& pair : manifold.pairs) {
    std::vector<Contact> contacts;
    for (int i = pair.begin; i < pair.end; ++i)
      contacts.push_back(manifold.contacts[static_cast<std::size_t>(i)]);
    visit(model.bodies[static_cast<std::size_t>(pair.body_A)].name,
          model.bodies[static_cast<std::size_t>(pair.body_B)].name, contacts);
  }
}

Json json_of_manifold(const Model& model, const ContactManifold& manifold, std::size_t faint,
                      const std::vector<Overlap>& overlaps) {
  Json pairs = Json::array();
  for_each_pair(model, manifold,
                [&](const std::string& a, const std::string& b, const std::vector<Contact>& contacts) {
                  Json list = Json::array();
                  for (const Contact& contact : contacts) {
                    list.push_back({{"kind", to_string(contact.feature.kind)},
                                    {"point", abut::json_of(contact.point_W)},
                                    {"signed_distance", contact.signed_distance},
                                    {"normal", abut::json_of(contact.normal_AB_W)},
                                    {"weight", contact.weight},
                                    {"activity", contact.activity}});
                  }
                  pairs.push_back({{"a", a}, {"b", b}, {"contacts", std::move(list)}});
                });
  return {{"pairs", std::move(pairs)}, {"faint", faint}, {"overlaps", json_of(model, overlaps)}};
}

void print_table(const Model& model, const ContactManifold& manifold, std::size_t faint) {
  const std::string rest =
      faint > 0 ? fmt::format("; {} more of an activity below {} (--all)", faint, k_least_activity) : "";
  if (manifold.pairs.empty()) {
    fmt::print("no contacts{}\n", rest);
    return;
  }
  Table table({"a", "b", "kind", "x [m]", "y [m]", "z [m]", "distance [m]", "n_x", "n_y", "n_z", "activity"});
  for_each_pair(model, manifold,
                [&](const std::string& a, const std::string& b, const std::vector<Contact>& contacts) {
                  for (const Contact& contact : contacts) {
                    const auto& p = contact.point_W;
                    const auto& n = contact.normal_AB_W;
                    table.add({a, b, to_string(contact.feature.kind), fmt::format("{:.5f}", p.x()),
                               fmt::format("{:.5f}", p.y()), fmt::format("{:.5f}", p.z()),
                               fmt::format("{:.3e}", contact.signed_distance), fmt::format("{:.4f}", n.x()),
                               fmt::format("{:.4f}", n.y()), fmt::format("{:.4f}", n.z()),
                               fmt::format("{:.4f}", contact.activity)});
                  }
                });
  fmt::print("{}contacts: {}, pairs: {}; normals point from a to b, distances are negative in overlap{}\n",
             table.text(3), manifold.contacts.size(), manifold.pairs.size(), rest);
}

int contacts(const ContactsArguments& arguments) {
  Scene scene = read_scene(arguments.scene, surface_maker(user_cache_folder()));
  const Simulator simulator = naming_file(
      arguments.scene.string(), [&] { return Simulator(std::move(scene.model), scene.config.step); });
  ContactManifold manifold = simulator.contacts(scene.initial);
  const std::size_t faint = drop_faint(manifold, arguments.all ? 0.0 : k_least_activity);
  const std::vector<Overlap> overlaps = simulator.overlaps(scene.initial);
  if (arguments.json) {
    print_json(json_of_manifold(simulator.model(), manifold, faint, overlaps));
  } else {
    print_table(simulator.model(), manifold, faint);
    for (const Overlap& overlap : overlaps) fmt::print("{}\n", overlap_text(simulator.model(), overlap));
  }
  return 0;
}

}  // namespace

void add_contacts_command(CLI::App& app, int& exit_code) {
  auto arguments = std::make_shared<ContactsArguments>();
  CLI::App* command = app.add_subcommand("contacts", "print the contacts of a scene's initial state");
  command->add_option("SCENE", arguments->scene, "scene file (TOML)")->required()->type_name("");
  command->add_flag("--all", arguments->all,
                    fmt::format("list contacts of an activity below {}, too", k_least_activity));
  command->add_flag("--json", arguments->json, "print one JSON object");
  command->footer(
      "A contact is a point [m] midway between the surfaces, the signed distance [m] (negative in overlap),\n"
      "the normal from body a to body b, and the activity, which falls smoothly from 1 (in overlap) to 0\n"
      "(apart). Bodies that overlap by more than 0.1 % of the smaller one's size are named after them, with "
      "the\n"
      "depth as their surfaces have it: no shorter translation parts them.\n"
      "\n"
      "Examples:\n"
      "  abut contacts assets/scenes/drill_mustard.toml\n"
      "  abut contacts assets/scenes/box_stack.toml --json");
  command->callback([arguments, &exit_code] { exit_code = contacts(*arguments); });
}

}  // namespace abut
