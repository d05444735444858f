// SPDX-License-Identifier: Apache-2.0
#include "manager/access_core.hpp"

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

AccessCore::AccessCore(const AccessOptions& options)
    : options_(options),
      accepted_(options.max_tokens),
      refused_(options.max_tokens),
      first_tokens_(options.first_reviews),
      allowed_(options.max_rights),
      denied_(options.max_rights),
      first_rights_(options.first_reviews) {}

// `others` is the rate of questions that were not answered with yes lately.
bool AccessCore::may_review(std::size_t running, bool had_yes, TokenBucket& others, TimePoint now) const {
  if (had_yes) return running < options_.max_reviews;
  return running + options_.reserved_reviews < options_.max_reviews && others.try_take(1, now);
}

AccessActions AccessCore::on_request(std::uint64_t request, const http::AccessQuestion& question,
                                     TimePoint now) {
  AccessActions actions;
  const auto decide = [&](AccessResult result) { actions.verdicts.push_back({request, result, {}}); };
  const std::string& token = question.token;
  const Waiting asked{request, question.verb, question.path};
  if (token.empty()) {
    decide(AccessResult::no_token);
  } else if (token.size() > options_.max_token_size) {
    decide(AccessResult::unknown);
  } else if (const auto running = token_reviews_.find(token); running != token_reviews_.end()) {
    running->second.push_back(asked);
  } else if (const Json* user = accepted_.find(token, now)) {
    check_rights(*user, asked, now, actions);
  } else if (refused_.find(token, now) != nullptr) {
    decide(AccessResult::unknown);
  } else if (!may_review(token_reviews_.size(), accepted_.had(token), first_tokens_, now)) {
    decide(AccessResult::busy);
  } else {
    token_reviews_[token].push_back(asked);
    actions.token_reviews.push_back(token);
  }
  return actions;
}

AccessActions AccessCore::on_token_review(const std::string& token, const Json& status, TimePoint now) {
  AccessActions actions;
  const auto review = token_reviews_.extract(token);
  if (review.empty()) return actions;
  const Json& user = status["user"];
  if (status["authenticated"].bool_or(false) && !user["username"].string_or("").empty()) {
    accepted_.put(token, user, now + options_.token_ttl);
    refused_.forget(token);
    for (const Waiting& one : review.mapped()) check_rights(user, one, now, actions);
    return actions;
  }
  if (status.is_object()) {
    accepted_.forget(token);
    refused_.put(token, {}, now + options_.token_ttl);
  }
  const AccessResult result = status.is_object() ? AccessResult::unknown : AccessResult::failed;
  for (const Waiting& one : review.mapped()) actions.verdicts.push_back({one.request, result, {}});
  return actions;
}

void AccessCore::check_rights(const Json& user, const Waiting& asked, TimePoint now, AccessActions& actions) {
  const std::string name = user["username"].string_or("");
  const std::string spec = rights_question(user, asked.verb, asked.path).dump();
  const auto decide = [&](AccessResult result) { actions.verdicts.push_back({asked.request, result, name}); };
  if (const auto running = right_reviews_.find(spec); running != right_reviews_.end()) {
    running->second.waiting.push_back(asked.request);
  } else if (allowed_.find(spec, now) != nullptr) {
    decide(AccessResult::allowed);
  } else if (denied_.find(spec, now) != nullptr) {
    decide(AccessResult::denied);
  } else if (!may_review(right_reviews_.size(), allowed_.had(spec), first_rights_, now)) {
    decide(AccessResult::busy);
  } else {
    right_reviews_[spec] = {name, {asked.request}};
    actions.rights_reviews.push_back(spec);
  }
}

AccessActions AccessCore::on_rights_review(const std::string& spec, const Json& status, TimePoint now) {
  AccessActions actions;
  const auto review = right_reviews_.extract(spec);
  if (review.empty()) return actions;
  const bool allowed = status["allowed"].bool_or(false) && !status["denied"].bool_or(false);
  AccessResult result = allowed ? AccessResult::allowed : AccessResult::denied;
  if (!status.is_object()) {
    result = AccessResult::failed;
  } else if (allowed) {
    allowed_.put(spec, {}, now + options_.allowed_ttl);
    denied_.forget(spec);
  } else {
    denied_.put(spec, {}, now + options_.denied_ttl);
    allowed_.forget(spec);
  }
  for (const std::uint64_t request : review.mapped().waiting) {
    actions.verdicts.push_back({request, result, review.mapped().user});
  }
  return actions;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
