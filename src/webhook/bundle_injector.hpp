// SPDX-License-Identifier: Apache-2.0
// Injection of authorities as caBundle into the objects that name a program's webhooks.
// Shared with floors above.
#pragma once

#include <set>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/webhook/configuration.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The webhooks of a program, as they appear in configurations.
struct BundleOwner {
  WebhookService service = {};
  std::vector<std::string> hosts = {};  ///< Hosts of URLs: names and addresses of the serving certificate.
};

/// Returns the JSON patch that sets the caBundle of this program's webhooks in a
/// Mutating-/ValidatingWebhookConfiguration or in the conversion of a CustomResourceDefinition; null if there
/// is nothing to set. It tests what it relies on, so that it fails if the list of webhooks changed.
EVENKEEL_API Json bundle_patch(const Json& object, const BundleOwner& owner, const std::string& bundle);

/// Shell: applies bundle_patch() to named objects.
/// Thread safety: one thread at a time.
class EVENKEEL_API BundleInjector {
 public:
  struct Targets {
    std::string mutating = {};           ///< Name of a MutatingWebhookConfiguration.
    std::string validating = {};         ///< Name of a ValidatingWebhookConfiguration.
    std::vector<std::string> crds = {};  ///< Names of CustomResourceDefinitions.
  };

  BundleInjector(Client client, BundleOwner owner, Targets targets, Log log);

  /// Reads all targets and patches those that lack the bundle. A target that does not exist is skipped; a
  /// failure is logged when it is new, and does not keep others from being patched. Returns true if all
  /// existing targets have the bundle.
  bool inject(const std::string& bundle);

 private:
  bool inject(const ResourceId& resource, const std::string& name, const std::string& bundle);

  const Client client_;
  const BundleOwner owner_;
  const Targets targets_;
  const Log log_;
  std::set<std::string> failing_;  // kind and name
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
