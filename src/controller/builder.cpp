// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>

#include <evenkeel/controller/builder.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

std::string default_name(std::string_view kind) {
  std::string name(kind);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

Attachment attach_to(Informer& informer, std::shared_ptr<EventHandler> handler, Delivery delivery) {
  const HandlerId id = informer.add_handler(std::move(handler), {.delivery = delivery});
  return {.informer = &informer, .remove = [&informer, id] { informer.remove_handler(id); }};
}

std::vector<ObjectKey> all_keys(const Informer& informer) {
  const StoreSnapshot objects = informer.store().snapshot();
  std::vector<ObjectKey> keys;
  keys.reserve(objects.size());
  for (const WireObject& object : objects) keys.push_back(object.key());
  return keys;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
