// SPDX-License-Identifier: Apache-2.0
#include "election/lease_record.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

LeaseRecord LeaseRecord::read(Json document) {
  LeaseRecord record;
  const Json& spec = std::as_const(document)["spec"];
  record.holder = spec["holderIdentity"].string_or("");
  const std::int64_t seconds = spec["leaseDurationSeconds"].integer_or(0);
  record.duration = std::chrono::seconds{std::clamp<std::int64_t>(seconds, 0, INT32_MAX)};
  record.transitions = std::clamp<std::int64_t>(spec["leaseTransitions"].integer_or(0), 0, INT32_MAX);
  record.version = std::as_const(document).at({"metadata", "resourceVersion"}).string_or("");
  record.document = std::move(document);
  return record;
}

bool is_newer(std::string_view left, std::string_view right) {
  return left.size() != right.size() ? left.size() > right.size() : left > right;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
