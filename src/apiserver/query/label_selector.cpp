// SPDX-License-Identifier: Apache-2.0
#include "apiserver/query/label_selector.hpp"

#include "apiserver/query/selector.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::string joined_values(const Json& list) {
  std::string out;
  for (std::size_t i = 0; i < list.size(); ++i) out.append(i == 0 ? "" : ",").append(list[i].string_or(""));
  return out;
}

}  // namespace

std::string label_selector_text(const Json& selector) {
  if (!selector.is_object()) return selector.string_or("");
  const bool structured = selector.contains("matchLabels") || selector.contains("matchExpressions");
  const Json& labels = structured ? selector["matchLabels"] : selector;
  std::string out;
  const auto add = [&out](const std::string& requirement) { out += (out.empty() ? "" : ",") + requirement; };
  if (labels.is_object())
    for (const auto& [key, value] : labels.as_object()) add(key + "=" + value.string_or(""));
  const Json& expressions = selector["matchExpressions"];
  for (std::size_t i = 0; structured && i < expressions.size(); ++i) {
    const std::string key = expressions[i]["key"].string_or("");
    const std::string op = expressions[i]["operator"].string_or("");
    if (op == "Exists")
      add(key);
    else if (op == "DoesNotExist")
      add("!" + key);
    else
      add(key + (op == "In" ? " in (" : " notin (") + joined_values(expressions[i]["values"]) + ")");
  }
  return out;
}

bool selects(const Json& selector, const Json& labels) {
  return LabelQuery(label_selector_text(selector)).matches(labels);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
