// SPDX-License-Identifier: Apache-2.0
#include "apiserver/controllers/role_controller.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "apiserver/access/authorizer.hpp"
#include "apiserver/controllers/kubernetes_service.hpp"
#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/query/label_selector.hpp"
#include "apiserver/text/timestamps.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// data/bootstrap_roles.txt, embedded by cmake/embed.cmake: one object a line.
extern const std::string_view bootstrap_roles_text;

namespace {

constexpr int most_rounds = 8;

ResourceTypePtr rbac_type(Storage& storage, const std::string& kind) {
  const std::string plural = kind == "ClusterRole"          ? "clusterroles"
                             : kind == "ClusterRoleBinding" ? "clusterrolebindings"
                             : kind == "Role"               ? "roles"
                                                            : "rolebindings";
  return storage.registry.find(std::string(rbac_group), "v1", plural);
}

/// Adds the marks that all objects of the file have.
void mark_bootstrapped(Json& object) {
  object["metadata"]["labels"]["kubernetes.io/bootstrapping"] = "rbac-defaults";
  object["metadata"]["annotations"] = Json::object({{"rbac.authorization.kubernetes.io/autoupdate", "true"}});
}

/// Returns the rules of all roles that one of the selectors selects, in the order of names, each once.
Json aggregated_rules(Storage& storage, const Collection& roles, const std::string& self,
                      const Json& selectors) {
  Json rules = Json::array();
  for (const auto& [name, role] : roles.objects) {
    if (name == self) continue;
    bool selected = false;
    const Json labels = role->part("metadata.labels");
    for (std::size_t i = 0; i < selectors.size() && !selected; ++i) selected = selects(selectors[i], labels);
    if (!selected) continue;
    const Json& found = storage.store.body(role)["rules"];
    for (std::size_t i = 0; i < found.size(); ++i) {
      bool present = false;
      for (std::size_t j = 0; j < rules.size() && !present; ++j)
        present = std::as_const(rules)[j] == found[i];
      if (!present) rules.push_back(found[i]);
    }
  }
  return rules.empty() ? Json() : rules;
}

}  // namespace

void RoleController::create_initial(Storage& storage, WallTime now) {
  enabled_ = true;
  std::string_view rest = bootstrap_roles_text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    Json object = Json::parse(rest.substr(0, end));
    rest.remove_prefix(end + 1);
    mark_bootstrapped(object);
    const ResourceTypePtr type = rbac_type(storage, object["kind"].string_or(""));
    store_as_server(storage, *type, std::move(object), now);
  }
  run(storage, now);
}

void RoleController::observe(const Store& store, const Change& change) {
  if (enabled_ && store.at(change.collection).plural() == "clusterroles") changed_ = true;
}

void RoleController::run(Storage& storage, WallTime now) {
  const ResourceTypePtr type = rbac_type(storage, "ClusterRole");
  Collection& roles = storage.collection(*type);
  // A role that aggregates aggregating roles needs another round; roles that aggregate each other may need
  // one without end, as in a cluster.
  changed_ = true;
  for (int round = 0; round < most_rounds && std::exchange(changed_, false); ++round) {
    for (const StoredPtr& role : storage.store.snapshot(roles, "", storage.store.version())) {
      const Json selectors = role->part("aggregationRule.clusterRoleSelectors");
      if (!selectors.is_array()) continue;
      Json rules = aggregated_rules(storage, roles, role->name(), selectors);
      const Json before = storage.document(*type, role);
      if (before["rules"] == rules) continue;
      Json after = before;
      after["rules"] = std::move(rules);
      track_update(before, after, *type->schema,
                   {.manager = "clusterrole-aggregation-controller", .now = timestamp(now)});
      after.erase("apiVersion");
      after.erase("kind");
      storage.store.put(roles, std::move(after));
    }
    storage.store.shrink();
  }
  changed_ = false;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
