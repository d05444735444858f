// SPDX-License-Identifier: Apache-2.0
#include "manager/access_core.hpp"

#include <algorithm>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

Json rights_question(const Json& user, std::string_view verb, std::string_view path) {
  Json spec =
      Json::object({{"user", user["username"]},
                    {"nonResourceAttributes", Json::object({{"path", Json(path)}, {"verb", Json(verb)}})}});
  for (const char* member : {"uid", "groups", "extra"}) {
    if (!user[member].is_null()) spec[member] = user[member];
  }
  return spec;
}

// Drops what has ended and, if there is no room yet, what ends first. Entries under review remain.
template <class Entries>
bool AccessCore::make_room(Entries& entries, std::size_t most, TimePoint now) {
  if (entries.size() < most) return true;
  std::erase_if(entries, [&](const auto& entry) { return entry.second.until && *entry.second.until <= now; });
  if (entries.size() < most) return true;
  auto first = entries.end();
  for (auto at = entries.begin(); at != entries.end(); ++at) {
    if (!at->second.until) continue;
    if (first == entries.end() || *at->second.until < *first->second.until) first = at;
  }
  if (first == entries.end()) return false;
  entries.erase(first);
  return true;
}

AccessActions AccessCore::on_request(std::uint64_t request, const http::AccessQuestion& question,
                                     TimePoint now) {
  AccessActions actions;
  const auto decide = [&](AccessResult result) { actions.verdicts.push_back({request, result, {}}); };
  if (question.token.empty()) {
    decide(AccessResult::no_token);
    return actions;
  }
  if (question.token.size() > options_.max_token_size) {
    decide(AccessResult::unknown);
    return actions;
  }
  const Waiting asked{request, question.verb, question.path};
  auto found = tokens_.find(question.token);
  if (found != tokens_.end() && found->second.until && *found->second.until <= now) {
    tokens_.erase(found);
    found = tokens_.end();
  }
  if (found == tokens_.end()) {
    if (token_reviews_ >= options_.max_token_reviews || !make_room(tokens_, options_.max_tokens, now)) {
      decide(AccessResult::busy);
      return actions;
    }
    ++token_reviews_;
    tokens_[question.token].waiting.push_back(asked);
    actions.token_reviews.push_back(question.token);
  } else if (!found->second.until) {
    found->second.waiting.push_back(asked);
  } else if (found->second.user.is_null()) {
    decide(AccessResult::unknown);
  } else {
    check_rights(found->second.user, asked, now, actions);
  }
  return actions;
}

AccessActions AccessCore::on_token_review(const std::string& token, const Json& status, TimePoint now) {
  AccessActions actions;
  const auto found = tokens_.find(token);
  if (found == tokens_.end() || found->second.until) return actions;
  --token_reviews_;
  const std::vector<Waiting> waiting = std::exchange(found->second.waiting, {});
  const bool known =
      status["authenticated"].bool_or(false) && !status.at({"user", "username"}).string_or("").empty();
  if (!status.is_object() || !known) {
    const AccessResult result = status.is_object() ? AccessResult::unknown : AccessResult::failed;
    for (const Waiting& one : waiting) actions.verdicts.push_back({one.request, result, {}});
    if (status.is_object()) {
      found->second.until = now + options_.token_ttl;
    } else {
      tokens_.erase(found);
    }
    return actions;
  }
  found->second.until = now + options_.token_ttl;
  found->second.user = status["user"];
  for (const Waiting& one : waiting) check_rights(found->second.user, one, now, actions);
  return actions;
}

void AccessCore::check_rights(const Json& user, const Waiting& asked, TimePoint now, AccessActions& actions) {
  const std::string name = user["username"].string_or("");
  const std::string spec = rights_question(user, asked.verb, asked.path).dump();
  auto found = rights_.find(spec);
  if (found != rights_.end() && found->second.until && *found->second.until <= now) {
    rights_.erase(found);
    found = rights_.end();
  }
  if (found == rights_.end()) {
    if (!make_room(rights_, options_.max_rights, now)) {
      actions.verdicts.push_back({asked.request, AccessResult::busy, name});
      return;
    }
    Right& right = rights_[spec];
    right.user = name;
    right.waiting.push_back(asked.request);
    actions.rights_reviews.push_back(spec);
  } else if (!found->second.until) {
    found->second.waiting.push_back(asked.request);
  } else {
    actions.verdicts.push_back(
        {asked.request, found->second.allowed ? AccessResult::allowed : AccessResult::denied, name});
  }
}

AccessActions AccessCore::on_rights_review(const std::string& spec, const Json& status, TimePoint now) {
  AccessActions actions;
  const auto found = rights_.find(spec);
  if (found == rights_.end() || found->second.until) return actions;
  Right& right = found->second;
  right.allowed = status["allowed"].bool_or(false) && !status["denied"].bool_or(false);
  AccessResult result = right.allowed ? AccessResult::allowed : AccessResult::denied;
  if (!status.is_object()) result = AccessResult::failed;
  for (const std::uint64_t request : std::exchange(right.waiting, {})) {
    actions.verdicts.push_back({request, result, right.user});
  }
  if (status.is_object()) {
    right.until = now + (right.allowed ? options_.allowed_ttl : options_.denied_ttl);
  } else {
    rights_.erase(found);
  }
  return actions;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
