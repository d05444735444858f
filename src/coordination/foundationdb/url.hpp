// SPDX-License-Identifier: Apache-2.0
// URLs of FoundationDB stores: fdb://CLUSTER_FILE[?root=ROOT].
#pragma once

#include <string_view>

#include <evenkeel/coordination/foundationdb_store.hpp>
#include <evenkeel/coordination/store_url.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

inline constexpr std::string_view fdb_scheme = "fdb://";

/// Returns the options of the store that `url` names. Throws std::invalid_argument, which quotes the URL and
/// has the form.
FoundationDbStoreOptions fdb_options(std::string_view url, const StoreUrlOptions& options);

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
