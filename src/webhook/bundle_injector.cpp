// SPDX-License-Identifier: Apache-2.0
#include "webhook/bundle_injector.hpp"

#include <algorithm>
#include <exception>
#include <string_view>

#include <evenkeel/api/bytes.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/client/resource_client.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

const ResourceId& mutating_kind() {
  static const ResourceId id{"admissionregistration.k8s.io", "v1", "MutatingWebhookConfiguration",
                             "mutatingwebhookconfigurations", Scope::cluster};
  return id;
}
const ResourceId& validating_kind() {
  static const ResourceId id{"admissionregistration.k8s.io", "v1", "ValidatingWebhookConfiguration",
                             "validatingwebhookconfigurations", Scope::cluster};
  return id;
}
const ResourceId& crd_kind() {
  static const ResourceId id{"apiextensions.k8s.io", "v1", "CustomResourceDefinition",
                             "customresourcedefinitions", Scope::cluster};
  return id;
}

// Returns "127.0.0.1" of "https://127.0.0.1:9443/mutate".
std::string_view host_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?"));
  if (url.starts_with('['))
    return url.substr(1, url.find(']') == std::string_view::npos ? 0 : url.find(']') - 1);
  return url.substr(0, url.find(':'));
}

bool is_ours(const Json& client_config, const BundleOwner& owner) {
  const Json& service = client_config["service"];
  if (service.is_object())
    return service["name"] == Json(owner.service.name) &&
           service["namespace"] == Json(owner.service.namespace_);
  const std::string url = client_config["url"].string_or("");
  return std::find(owner.hosts.begin(), owner.hosts.end(), host_of(url)) != owner.hosts.end();
}

Json operation(const char* op, std::string path, Json value) {
  return Json::object({{"op", op}, {"path", std::move(path)}, {"value", std::move(value)}});
}

void patch_entry(Json& patch, const Json& client_config, const std::string& path, const BundleOwner& owner,
                 const std::string& bundle) {
  if (!is_ours(client_config, owner) || client_config["caBundle"] == Json(bundle)) return;
  const char* named = client_config["service"].is_object() ? "/service" : "/url";
  patch.push_back(operation("test", path + named, client_config[named + 1]));
  patch.push_back(operation("add", path + "/caBundle", bundle));
}

}  // namespace

Json bundle_patch(const Json& object, const BundleOwner& owner, const std::string& bundle) {
  const std::string encoded = Bytes(bundle).base64();
  Json patch = Json::array();
  const Json& webhooks = object["webhooks"];
  for (std::size_t at = 0; at < webhooks.size(); ++at) {
    patch_entry(patch, webhooks[at]["clientConfig"], "/webhooks/" + std::to_string(at) + "/clientConfig",
                owner, encoded);
  }
  const Json& conversion = object.at({"spec", "conversion", "webhook", "clientConfig"});
  if (conversion.is_object())
    patch_entry(patch, conversion, "/spec/conversion/webhook/clientConfig", owner, encoded);
  return patch.empty() ? Json() : patch;
}

BundleInjector::BundleInjector(Client client, BundleOwner owner, Targets targets, Log log)
    : client_(std::move(client)),
      owner_(std::move(owner)),
      targets_(std::move(targets)),
      log_(std::move(log)) {}

bool BundleInjector::inject(const std::string& bundle) {
  bool complete = true;
  if (!targets_.mutating.empty()) complete &= inject(mutating_kind(), targets_.mutating, bundle);
  if (!targets_.validating.empty()) complete &= inject(validating_kind(), targets_.validating, bundle);
  for (const std::string& crd : targets_.crds) complete &= inject(crd_kind(), crd, bundle);
  return complete;
}

bool BundleInjector::inject(const ResourceId& resource, const std::string& name, const std::string& bundle) {
  const std::string what = resource.kind + " " + name;
  try {
    const ResourceClient objects = client_.resource(resource);
    const auto found = objects.find({"", name});
    if (!found) return true;
    const Json patch = bundle_patch(found->body(), owner_, bundle);
    if (!patch.is_null()) {
      objects.patch(ObjectKey{"", name}, Patch::json(patch));
      log_.info("injected the authorities of the webhooks", {{"into", what}});
    }
    failing_.erase(what);
    return true;
  } catch (const Error& error) {
    if (failing_.insert(what).second)
      log_.error("the CA bundle of the webhooks cannot be injected; retrying",
                 {{"into", what}, {"error", error.what()}});
    return false;
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
