/// Numbers, indicators and curves of contacts: parts of the inspector.
#pragma once

#include <string>

#include "apps/viewer/panels/panel.h"

namespace abut::viewer {

/// The same for the same contact in every picture, so that a click ends on what it began on.
void push_feature_id(const ContactFeature& feature);

/// Contacts that are pinned, one below the other.
///
/// @param all  gets a line for each number
void draw_pinned_contacts(PanelContext& context, std::string& all);

/// The contacts of two bodies, a line each; a click pins one.
void draw_contacts_of_pair(PanelContext& context, const BodyPair& bodies);

}  // namespace abut::viewer
