// SPDX-License-Identifier: Apache-2.0
// x-kubernetes-validations: the rules of a CRD schema.
#pragma once

#include <vector>

#include <evenkeel/api/json.hpp>

#include "apiserver/schema/schema.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Whether any part of the schema has rules.
bool has_rules(const Schema& root);

/// Evaluates the rules of every part of `object`; `old` is the stored object or null. Rules that speak of
/// oldSelf are evaluated where there is an old value. A rule that cannot be compiled or evaluated is an error
/// of the field.
/// What did not change since `old` breaks no rule: that goes to `warnings`, if given.
std::vector<FieldError> check_rules(const Json& object, const Schema& root, const Json& old,
                                    std::vector<std::string>* warnings);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
