#include <catch2/catch.hpp>

#include <algorithm>

#include "apps/viewer/contact_description.h"
#include "tests/viewer/headless_viewer.h"

namespace abut::viewer {

TEST_CASE("Contact description: the factors that a table shows are those whose product is the activity",
          "[viewer][value]") {
  int edges = 0, vertices = 0;
  for (const char* scene : {"armadillo_armadillo", "box_on_box", "box_stack"}) {
    HeadlessViewer user(scene_file(scene));
    user.steps(20);
    user.draw();
    for (const ContactView& view : user.frame().contacts) {
      REQUIRE(view.inspection.known);
      double product = 1.0;
      for (const Indicator factor : factors_of(view.contact.feature.kind))
        product *= indicator_of(view, factor);
      CHECK(product == Approx(view.contact.activity).margin(1e-9));
      edges += view.contact.feature.kind == ContactKind::edge_edge;
      vertices += view.contact.feature.kind == ContactKind::vertex_sdf;
    }
  }
  CHECK(edges > 5);
  CHECK(vertices > 5);
  CHECK(factors_of(ContactKind::blended).empty());
}

TEST_CASE("Contact description: the table has a row for the distance, each factor, the force and friction",
          "[viewer][value]") {
  HeadlessViewer user(scene_file("box_stack"));
  user.steps(100);
  user.draw();
  const Frame& frame = user.frame();
  const auto& contacts = frame.contacts;
  const auto with_force = std::find_if(contacts.begin(), contacts.end(), [](const ContactView& view) {
    return view.has_force && view.force.normal_force() > 0.0;
  });
  REQUIRE(with_force != contacts.end());
  const std::vector<ContactRow> rows = contact_rows(*frame.model, *with_force);
  const auto row = [&](const std::string& name) {
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const ContactRow& one) { return one.name == name; });
    REQUIRE(found != rows.end());
    return *found;
  };
  CHECK(row("distance").value == three_digits(with_force->contact.signed_distance, "m"));
  CHECK(row("force on B").value == three_digits(with_force->force.force_B_W.norm(), "N"));
  CHECK(*row("activity").factor == Approx(with_force->contact.activity));
  CHECK(*row("= penetration").factor == Approx(with_force->inspection.indicators.penetration));
  CHECK(row("friction").value.find("sticks") != std::string::npos);
  const auto factors =
      std::count_if(rows.begin(), rows.end(), [](const ContactRow& one) { return one.factor.has_value(); });
  CHECK(factors == 1 + static_cast<int>(factors_of(with_force->contact.feature.kind).size()));
  ContactView without = *with_force;
  without.has_force = false;
  CHECK(contact_rows(*frame.model, without).size() == rows.size() - 3);
}

TEST_CASE("Contact description: numbers have three digits and a prefix", "[viewer][value]") {
  CHECK(three_digits(12.345, "N") == "12.3 N");
  CHECK(three_digits(1.2345e4, "N") == "12.3 kN");
  CHECK(three_digits(0.012, "N") == "12.0 mN");
  CHECK(three_digits(9.996, "N") == "10.0 N");
  CHECK(three_digits(999.7, "N") == "1.00 kN");
  CHECK(three_digits(123.4, "N") == "123 N");
  CHECK(three_digits(-2e-6, "m") == "-2.00 µm");
  CHECK(three_digits(0.0, "N") == "0 N");
}

}  // namespace abut::viewer
