// SPDX-License-Identifier: Apache-2.0
// Role-based access control: the roles and bindings of the store, evaluated for each request.
// Source: kubernetes plugin/pkg/auth/authorizer/rbac, pkg/registry/rbac/validation.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/access/policy_rule.hpp"
#include "apiserver/store/storage.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

inline constexpr std::string_view rbac_group = "rbac.authorization.k8s.io";
inline constexpr std::string_view masters_group = "system:masters";

struct AccessDecision {
  bool allowed = false;
  std::string reason = {};  ///< The binding that allows it, or the errors of the evaluation.
};

/// The rules that apply to a user.
struct HeldRules {
  PolicyRules rules = {};
  std::vector<std::string> errors = {};  ///< One error for each binding whose role does not exist.
  std::string error_text() const;        ///< "a", or "[a, b]".
};

bool is_in_group(const Caller& caller, std::string_view group);
/// Returns the service account with this user name; std::nullopt if it is not the name of one.
std::optional<Caller> service_account_of(std::string_view user);
/// Returns the user that the headers Impersonate-* name; std::nullopt if there are none. Throws StatusError
/// (400).
std::optional<Caller> impersonated(const http::Request& request);

/// Keeps roles and bindings parsed, and parses those again that have changed.
/// Thread safety: one thread at a time.
class Authorizer {
 public:
  explicit Authorizer(Authorization mode) : mode_(mode) {}

  bool enabled() const { return mode_ == Authorization::rbac; }
  AccessDecision decide(Storage& storage, const Caller& caller, const AccessRequest& request);
  /// Throws StatusError (403).
  void require(Storage& storage, const Caller& caller, const AccessRequest& request);
  /// Throws StatusError (403) unless the caller may act as `user` for `request`.
  void require_impersonation(Storage& storage, const Caller& caller, const Caller& user,
                             const AccessRequest& request);
  HeldRules rules_of(Storage& storage, const Caller& caller, std::string_view namespace_);
  /// Returns the rules of the role that `role_ref` names; std::nullopt if it does not exist.
  std::optional<PolicyRules> role_rules(Storage& storage, const Json& role_ref, std::string_view namespace_);

 private:
  struct Subject {
    std::string kind;
    std::string name;
    std::string namespace_;
  };
  struct Binding {
    Json role;
    std::vector<Subject> subjects;
  };
  template <class Parsed>
  struct Parts {
    std::uint64_t changed = 0;
    std::map<std::string, std::pair<StoredPtr, Parsed>> entries = {};
  };
  static bool applies(const Subject& subject, const Caller& caller, std::string_view namespace_);
  static Binding binding_of(const Stored& object);
  template <class Parsed, class Parse>
  static void refresh(const Collection& collection, Parts<Parsed>& parts, const Parse& parse);
  void refresh_all(Storage& storage);
  /// Calls `visit(binding kind, key, binding, subject)` for each binding that applies, until it returns true.
  template <class Visit>
  void visit_bindings(const Caller& caller, std::string_view namespace_, const Visit& visit) const;
  const PolicyRules* rules_of_role(const Json& role, std::string_view namespace_) const;

  const Authorization mode_;
  Parts<PolicyRules> roles_ = {};
  Parts<PolicyRules> cluster_roles_ = {};
  Parts<Binding> bindings_ = {};
  Parts<Binding> cluster_bindings_ = {};
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
