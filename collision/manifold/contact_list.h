/// The contacts of a model as a structure of arrays. Detection appends to it, the solver reads its columns; a
/// Contact is what users see of one.
#pragma once

#include <cstddef>
#include <iterator>
#include <vector>

#include "collision/manifold/contact.h"
#include "collision/manifold/contact_block.h"

namespace abut {

class ContactList {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Contact;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Contact;

    Iterator(const ContactList& list, std::size_t i) : list_(&list), i_(i) {}
    [[nodiscard]] Contact operator*() const { return (*list_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++i_;
      return before;
    }
    [[nodiscard]] bool operator==(const Iterator& other) const { return i_ == other.i_; }

   private:
    const ContactList* list_;
    std::size_t i_;
  };

  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(block_.count); }
  [[nodiscard]] bool empty() const { return block_.count == 0; }
  [[nodiscard]] Contact operator[](std::size_t i) const;
  [[nodiscard]] Iterator begin() const { return {*this, 0}; }
  [[nodiscard]] Iterator end() const { return {*this, size()}; }

  /// Points are positions in W.
  [[nodiscard]] const ContactBlock<double>& block() const { return block_; }
  /// For detection. Contacts that are appended to it need a source before they are asked for.
  [[nodiscard]] ContactBlock<double>& block() { return block_; }
  /// Says of the contacts before `end` that have no source yet where they come from.
  void set_sources(int end, ContactKind kind, int body_A, int body_B);
  [[nodiscard]] ContactFeature feature(std::size_t i) const;

  void clear();
  void resize(std::size_t count);  ///< contacts that are new are to be set
  void set(std::size_t i, const Contact& contact);
  void push_back(const Contact& contact);
  /// Multiplies its weight and its activity.
  void scale_weight(std::size_t i, double factor);

 private:
  struct Source {
    ContactKind kind = ContactKind::vertex_sdf;
    int body_A = -1, body_B = -1;
  };
  ContactBlock<double> block_;
  std::vector<Source> sources_;
};

}  // namespace abut
