// SPDX-License-Identifier: Apache-2.0
// The kinds that a server serves: plural, scope, verbs and preferred version of a kind known only at run
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/options.hpp>

namespace evenkeel {
inline namespace v0 {

class Client;
namespace detail {
class DiscoveryState;
}

/// A subresource of a resource.
struct ApiSubresource {
  std::string name = {};  ///< "status"
  std::string kind = {};  ///< Kind of its documents: "Scale", "Eviction".
  std::vector<std::string> verbs = {};
};

/// A resource in one version of its group.
struct EVENKEEL_API ApiResource {
  ResourceId id = {};  ///< For Client::resource().
  std::string singular = {};
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> verbs = {};  ///< "get", "list", "watch", ... ; empty if built from a ResourceId.
  std::vector<ApiSubresource> subresources = {};

  bool has_verb(std::string_view verb) const;
  bool has_subresource(std::string_view name) const;
};

enum class DiscoveryErrorCode : std::uint8_t {
  no_match,     ///< The server does not serve such a kind.
  ambiguous,    ///< Several resources match; what() lists them.
  unavailable,  ///< The group's API server does not answer, so it is unknown whether it has the kind.
};

/// A kind or resource that cannot be resolved: `no match for kind "Demo" in group "example.com"`.
class EVENKEEL_API DiscoveryError : public Error {
 public:
  DiscoveryError(DiscoveryErrorCode code, const std::string& what) : Error(what), code_(code) {}
  DiscoveryErrorCode code() const noexcept { return code_; }

 private:
  DiscoveryErrorCode code_;
};

struct DiscoveryOptions {
  /// Minimum time between two refreshes because of lookups without a match; positive.
  Duration refresh_interval = std::chrono::seconds{10};
};

/// Resolves kinds and names of resources. The first lookup requests all groups at once (aggregated discovery;
/// from servers without it, one document per group and version); later ones are answered from memory. A
/// lookup without a match requests the groups again, unless that was done within refresh_interval; a lookup
/// that matches never does. Concurrent lookups share one refresh.
///
/// If an aggregated API server does not answer, no other group is affected, and resources of its group that
/// were known before stay in use.
///
/// A cheap handle: copies share the known resources. Lookups throw DiscoveryError and, if they send requests,
/// the errors of a client's blocking calls.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API Discovery {
 public:
  /// Asks with `client` and the options that are bound to it. Throws std::invalid_argument if an option is
  /// out of bounds.
  explicit Discovery(const Client& client, DiscoveryOptions options = {});
  /// Knows exactly these resources and makes no requests. Of two versions of a group the first is preferred.
  explicit Discovery(const std::vector<ResourceId>& resources);

  /// Returns a handle whose requests and waits have these options, as Client::with().
  [[nodiscard]] Discovery with(CallOptions options) const;

  /// Returns the resource of a kind ("Deployment" in "apps"; "" is the core group) in `version`, or, if that
  /// is empty, in the most preferred version that has the kind.
  ApiResource find_kind(std::string_view group, std::string_view kind, std::string_view version = "") const;
  /// Returns the resource with a plural, singular or short name, in any case of letters, optionally with its
  /// group: "deployments.apps", "deploy", "pods". Of the groups that have it, one where the name is not a
  /// short name takes precedence; several are ambiguous.
  ApiResource find_name(std::string_view name) const;
  /// Returns the preferred version of a group: "v1".
  std::string preferred_version(std::string_view group) const;
  /// Returns all resources in all versions, in the server's order.
  std::vector<ApiResource> resources() const;
  /// Asks the server now, as after the installation of a CRD. A Discovery without a client does nothing.
  void refresh() const;

 private:
  Discovery(std::shared_ptr<detail::DiscoveryState> state, std::shared_ptr<const Client> client);

  std::shared_ptr<detail::DiscoveryState> state_;
  std::shared_ptr<const Client> client_;  // null: no requests
};

/// Asks the server if it serves a resource now, in this version: one small request, of which nothing is
/// remembered. Throws the errors of a client's blocking calls, also if the group's API server does not
/// answer.
EVENKEEL_API bool is_served(const Client& client, const ResourceId& resource);

}  // namespace v0
}  // namespace evenkeel
