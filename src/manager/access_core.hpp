// SPDX-License-Identifier: Apache-2.0
// Access to the endpoint, as the API server grants it: which reviews are needed, and for how long their
// results hold.
//
// Driver:
// 1. Each request gets a number of its own: on_request().
// 2. Each review of the returned actions is sent; its result, or null for a failure, is reported once by
//    on_token_review() or on_rights_review(). All members return actions.
// 3. Each verdict of the actions answers its request; there is one for each request.
// The time is an argument; there is nothing to do at a later one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/ratelimit/token_bucket.hpp>
#include <evenkeel/serve/server.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Times for which results of reviews hold, and bounds of memory. A review that failed is not remembered.
struct AccessOptions {
  Duration token_ttl = std::chrono::minutes{1};    ///< For the review of a token, accepted or not.
  Duration allowed_ttl = std::chrono::minutes{5};  ///< For a right that a user has.
  Duration denied_ttl = std::chrono::seconds{30};  ///< For a right that a user lacks.
  /// Accepted tokens that are remembered, and as many refused ones; those that end first are dropped.
  std::size_t max_tokens = 256;
  std::size_t max_rights = 1024;  ///< Likewise of rights.
  /// Reviews of tokens that run at the same time, and as many of rights. Anybody who reaches the endpoint can
  /// cause the former, anybody with a token the latter.
  std::size_t max_reviews = 32;
  std::size_t reserved_reviews = 8;  ///< Those of them for questions that were answered with yes lately.
  /// Rate of the reviews of all other tokens, and of all other rights.
  TokenBucketOptions first_reviews = {.tokens = 50, .burst = 100};
  std::size_t max_token_size = 16u << 10;  ///< Longer tokens are refused without a review.
};

enum class AccessResult : std::uint8_t {
  allowed,
  no_token,  ///< The request has none.
  unknown,   ///< The API server does not know the token.
  denied,    ///< The user lacks the right.
  failed,    ///< A review failed.
  busy,      ///< Too many reviews run.
};

struct AccessVerdict {
  std::uint64_t request = 0;
  AccessResult result = AccessResult::failed;
  std::string user = {};  ///< Name, once it is known.
};

struct AccessActions {
  std::vector<std::string> token_reviews = {};   ///< Tokens.
  std::vector<std::string> rights_reviews = {};  ///< Specs of SubjectAccessReviews, as JSON.
  std::vector<AccessVerdict> verdicts = {};
};

/// Answers of one kind to questions of one kind, up to a number of them; one that has ended makes room first.
template <class Value>
class AccessMemory {
 public:
  explicit AccessMemory(std::size_t most) : most_(most) {}

  /// Returns the answer if it holds; null otherwise.
  const Value* find(const std::string& question, TimePoint now) const {
    const auto found = answers_.find(question);
    return found != answers_.end() && now < found->second.until ? &found->second.value : nullptr;
  }
  /// Returns true if this was the last answer, even if it holds no more.
  bool had(const std::string& question) const { return answers_.contains(question); }
  void put(const std::string& question, Value value, TimePoint until) {
    answers_.insert_or_assign(question, Answer{std::move(value), until});
    if (answers_.size() <= most_) return;
    answers_.erase(std::min_element(answers_.begin(), answers_.end(), [](const auto& one, const auto& other) {
      return one.second.until < other.second.until;
    }));
  }
  void forget(const std::string& question) { answers_.erase(question); }
  std::size_t size() const { return answers_.size(); }

 private:
  struct Answer {
    Value value;
    TimePoint until;
  };
  const std::size_t most_;
  std::map<std::string, Answer> answers_;
};

/// Requests that ask the same at the same time share one review. Whoever floods the endpoint with tokens that
/// are unknown, or with paths that its user may not get, does not push out the answers of others: yes and no
/// are remembered apart, and some reviews are kept for questions that were answered with yes lately.
/// Source: apiserver DelegatingAuthenticatorConfig and DelegatingAuthorizerConfig, with the times of
/// controller-runtime filters.WithAuthenticationAndAuthorization; unlike these, what is remembered is
/// bounded. Thread safety: one thread at a time.
class AccessCore {
 public:
  explicit AccessCore(const AccessOptions& options = {});

  AccessActions on_request(std::uint64_t request, const http::AccessQuestion& question, TimePoint now);
  /// `status`: that of the TokenReview; null if the review failed.
  AccessActions on_token_review(const std::string& token, const Json& status, TimePoint now);
  /// `spec` as in the action; `status`: that of the SubjectAccessReview; null if the review failed.
  AccessActions on_rights_review(const std::string& spec, const Json& status, TimePoint now);

  std::size_t tokens() const { return accepted_.size() + refused_.size(); }
  std::size_t rights() const { return allowed_.size() + denied_.size(); }

 private:
  struct Waiting {
    std::uint64_t request = 0;
    std::string verb = {};
    std::string path = {};
  };
  struct RightReview {
    std::string user = {};
    std::vector<std::uint64_t> waiting = {};
  };
  struct Nothing {};

  void check_rights(const Json& user, const Waiting& asked, TimePoint now, AccessActions& actions);
  bool may_review(std::size_t running, bool had_yes, TokenBucket& others, TimePoint now) const;

  const AccessOptions options_;
  AccessMemory<Json> accepted_;  // tokens, with their users
  AccessMemory<Nothing> refused_;
  std::map<std::string, std::vector<Waiting>> token_reviews_;  // that run
  TokenBucket first_tokens_;
  AccessMemory<Nothing> allowed_;  // rights
  AccessMemory<Nothing> denied_;
  std::map<std::string, RightReview> right_reviews_;
  TokenBucket first_rights_;
};

/// Returns the spec of the SubjectAccessReview that asks for a right of a user of a TokenReview's status.
Json rights_question(const Json& user, std::string_view verb, std::string_view path);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
