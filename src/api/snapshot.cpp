// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <string>

#include <evenkeel/api/snapshot.hpp>

namespace evenkeel {
inline namespace v0 {

void detail::refuse_empty_snapshot(std::string_view type) {
  for (const std::string_view own : {"evenkeel::v0::", "evenkeel::"}) {
    if (type.substr(0, own.size()) == own) type.remove_prefix(own.size());
  }
  throw std::logic_error("an empty Snapshot<" + std::string(type) +
                         "> was dereferenced: the object does not exist; check with `if (snapshot)`");
}

}  // namespace v0
}  // namespace evenkeel
