// SPDX-License-Identifier: Apache-2.0
// x-kubernetes-validations: the rules of a CRD schema.
#pragma once

#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns true if any part of the schema has rules.
bool has_rules(const Schema& root);

/// Evaluates the rules of every part of `object`; `old` is the stored object or null. Rules that use oldSelf
/// are evaluated only if there is an old value. A rule that cannot be compiled or evaluated is an error of
/// the field. Unchanged values do not violate rules: these errors are added to `warnings`, if given.
std::vector<FieldError> check_rules(const Json& object, const Schema& root, const Json& old,
                                    std::vector<std::string>* warnings);

/// Returns the errors of rules that do not compile: syntax, references, calls and the types of results.
/// `path` is that of the schema of a whole kind.
std::vector<FieldError> check_rule_types(const Schema& root, const std::string& path);

/// Evaluates the rules for the default at `path`, whose schema is `root`. A default is its own old value.
std::vector<FieldError> check_rules_of_default(const Json& value, const Schema& root,
                                               const std::string& path);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
