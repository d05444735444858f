// SPDX-License-Identifier: Apache-2.0
// Options of the parts of a manager, derived from those of the manager.
#pragma once

#include <optional>

#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/clusters/cluster_set.hpp>
#include <evenkeel/events/event_recorder.hpp>
#include <evenkeel/manager/manager.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the options with the default names of election and shards. Throws std::invalid_argument if both
/// are set.
ManagerOptions with_election_name(ManagerOptions options);
CacheOptions cache_options(const ManagerOptions& options);
/// Returns the client of the election or the shards; std::nullopt without either. By default it has separate
/// connections, so that no other request delays a renewal.
std::optional<Client> client_for_election(const Client& client, const ManagerOptions& options);
/// The default component is the manager's name with '-' in place of characters that a qualified name must not
/// have.
EventRecorderOptions event_options(const ManagerOptions& options);
ClusterSetOptions cluster_options(const ManagerOptions& options);
/// Returns LifecycleOptions::shutdown_delay or its default.
Duration shutdown_delay(const LifecycleOptions& options, bool serves_webhooks);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
