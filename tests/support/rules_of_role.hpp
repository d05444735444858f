// SPDX-License-Identifier: Apache-2.0
// The rules of a Role or ClusterRole that a server has.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/policy_rule.hpp>

namespace evenkeel::tests {

inline std::vector<std::string> words_of(const Json& list) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < list.size(); ++at) words.push_back(list[at].as_string());
  return words;
}

inline std::vector<PolicyRule> rules_of_role(const Json& role) {
  std::vector<PolicyRule> rules;
  const Json& list = role["rules"];
  for (std::size_t at = 0; at < list.size(); ++at) {
    rules.push_back({words_of(list[at]["apiGroups"]), words_of(list[at]["resources"]),
                     words_of(list[at]["verbs"]), words_of(list[at]["resourceNames"])});
  }
  return rules;
}

}  // namespace evenkeel::tests
