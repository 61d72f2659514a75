#include "collision/manifold/contact_list.h"

#include <algorithm>

#include "engine/check.h"

namespace abut {

ContactFeature ContactList::feature(std::size_t i) const {
  const Source& source = sources_[i];
  const int contact = static_cast<int>(i);
  return {source.kind, source.body_A, source.body_B, block_.feature(0, contact), block_.feature(1, contact)};
}

Contact ContactList::operator[](std::size_t i) const {
  const int contact = static_cast<int>(i);
  return {feature(i),
          block_.vector(k_contact_point, contact),
          block_.number(k_contact_distance, contact),
          block_.vector(k_contact_normal, contact),
          block_.number(k_contact_weight, contact),
          block_.number(k_contact_activity, contact),
          block_.number(k_contact_area, contact)};
}

void ContactList::set_sources(int end, ContactKind kind, int body_A, int body_B) {
  sources_.resize(at(end), {kind, body_A, body_B});
}

void ContactList::clear() {
  block_.clear(ManifoldOrder::value, Vec3<double>::Zero());
  sources_.clear();
}

void ContactList::resize(std::size_t count) {
  const int contacts = static_cast<int>(count);
  if (contacts > block_.capacity) block_.reserve(std::max(contacts, 2 * block_.capacity));
  block_.count = contacts;
  sources_.resize(count);
}

void ContactList::set(std::size_t i, const Contact& contact) {
  const int place = static_cast<int>(i);
  const ContactFeature& feature = contact.feature;
  sources_[i] = {feature.kind, feature.body_A, feature.body_B};
  block_.set_feature(0, place, feature.feature_A);
  block_.set_feature(1, place, feature.feature_B);
  block_.set_vector(k_contact_point, place, contact.point_W);
  block_.set_number(k_contact_distance, place, contact.signed_distance);
  block_.set_vector(k_contact_normal, place, contact.normal_AB_W);
  block_.set_number(k_contact_weight, place, contact.weight);
  block_.set_number(k_contact_activity, place, contact.activity);
  block_.set_number(k_contact_area, place, contact.area);
}

void ContactList::push_back(const Contact& contact) {
  resize(size() + 1);
  set(size() - 1, contact);
}

void ContactList::scale_weight(std::size_t i, double factor) {
  const int place = static_cast<int>(i);
  for (const int c : {k_contact_weight, k_contact_activity})
    block_.set_number(c, place, factor * block_.number(c, place));
}

}  // namespace abut
