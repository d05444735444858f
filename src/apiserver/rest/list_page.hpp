// SPDX-License-Identifier: Apache-2.0
// The objects of a list or deletecollection request: selected, limited and continued.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apiserver/query/list_options.hpp"
#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

struct Page {
  std::vector<StoredPtr> items = {};
  std::uint64_t version = 0;
  std::string continue_token = {};  ///< Empty at the end.
  std::optional<std::size_t> remaining = {};
  std::string shards = {};  ///< The shard selector; empty: none.
};

/// Returns the items in the version of the call. Throws WebhookNeeded, and StatusError (410, 504) for
/// versions that are not available.
Page read_page(Storage& storage, Call& call, const ListOptions& options);
/// Returns the metadata of the list.
Json list_metadata(const Call& call, const Page& page);
/// Returns the 504 for a version in the future.
StatusError too_large_version(std::uint64_t version, std::uint64_t current);
/// Throws it.
[[noreturn]] void refuse_future(std::uint64_t version, std::uint64_t current);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
