// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/sets.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

std::string Layout::member(std::string_view set, std::string_view scope, std::string_view unit) const {
  return key_of(root_, {set, scope, unit});
}
std::string Layout::scope_prefix(std::string_view set, std::string_view scope) const {
  return prefix_of(root_, {set, scope});
}
std::string Layout::set_prefix(std::string_view set) const {
  return prefix_of(root_, {set});
}
std::string Layout::facts(std::string_view scope, std::string_view unit) const {
  return key_of(root_, {facts_table, scope, unit});
}
std::string Layout::facts_prefix() const {
  return prefix_of(root_, {facts_table});
}
std::string Layout::facts_prefix(std::string_view scope) const {
  return prefix_of(root_, {facts_table, scope});
}
std::string Layout::guard(std::string_view set, std::string_view scope) const {
  return key_of(root_, {"guard", set, scope});
}
std::string Layout::guard_prefix(std::string_view set) const {
  return prefix_of(root_, {"guard", set});
}
std::string Layout::summary(std::string_view action, std::string_view scope) const {
  return guard(summary_table(action), scope);
}
std::string Layout::summaries_prefix(std::string_view action) const {
  return guard_prefix(summary_table(action));
}
std::string Layout::token(std::string_view scope) const {
  return key_of(root_, {"tokens", scope});
}
std::string Layout::instance(std::string_view scope) const {
  return key_of(root_, {"instances", scope});
}
std::string Layout::instances_prefix() const {
  return prefix_of(root_, {"instances"});
}

std::string Layout::lock() const {
  return key_of(root_, {"arbiter", "lock"});
}
std::string Layout::denied(std::string_view scope) const {
  return key_of(root_, {"arbiter", "denyList", scope});
}
std::string Layout::denied_prefix() const {
  return prefix_of(root_, {"arbiter", "denyList"});
}
std::string Layout::claim(std::string_view action) const {
  return key_of(root_, {"arbiter", "claims", action});
}
std::string Layout::claims_prefix() const {
  return prefix_of(root_, {"arbiter", "claims"});
}
std::string Layout::targets(std::string_view action, std::string_view scope) const {
  return key_of(root_, {"arbiter", "targets", action, scope});
}
std::string Layout::targets_prefix(std::string_view action) const {
  return prefix_of(root_, {"arbiter", "targets", action});
}
std::string Layout::taken(std::string_view action) const {
  return key_of(root_, {"arbiter", "taken", action});
}
std::string Layout::upgrade(std::string_view version, std::string_view unit) const {
  return key_of(root_, {"arbiter", "upgrades", version, unit});
}
std::string Layout::upgrades_prefix() const {
  return prefix_of(root_, {"arbiter", "upgrades"});
}
std::string Layout::upgrades_prefix(std::string_view version) const {
  return prefix_of(root_, {"arbiter", "upgrades", version});
}
std::string Layout::migrating(std::string_view scope) const {
  return key_of(root_, {"arbiter", "migrating", scope});
}
std::string Layout::migrating_prefix() const {
  return prefix_of(root_, {"arbiter", "migrating"});
}
std::string Layout::arbiter_token(std::string_view writer) const {
  return key_of(root_, {"arbiter", "tokens", writer});
}

std::string Layout::shard_of(std::string_view key) const {
  const std::vector<std::string> elements = elements_of(root_, key);
  const std::size_t at = !elements.empty() && elements.front() == "guard" ? 2 : 1;
  if (elements.size() <= at || elements.front() == "arbiter") return "arbiter";
  return "scope." + elements[at];
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
