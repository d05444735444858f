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

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/serve/server.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Times for which results of reviews hold, and bounds of memory. A review that failed is not remembered.
struct AccessOptions {
  Duration token_ttl = std::chrono::minutes{1};    ///< For the review of a token, accepted or not.
  Duration allowed_ttl = std::chrono::minutes{5};  ///< For a right that a user has.
  Duration denied_ttl = std::chrono::seconds{30};  ///< For a right that a user lacks.
  std::size_t max_tokens = 256;   ///< Tokens remembered; the ones that end first are dropped.
  std::size_t max_rights = 1024;  ///< Likewise of rights.
  /// Reviews of tokens that run at the same time. Anybody who reaches the endpoint can cause them.
  std::size_t max_token_reviews = 32;
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

/// Requests that ask the same at the same time share one review.
/// Source: apiserver DelegatingAuthenticatorConfig and DelegatingAuthorizerConfig, with the times of
/// controller-runtime filters.WithAuthenticationAndAuthorization; unlike these, what is remembered is
/// bounded. Thread safety: one thread at a time.
class AccessCore {
 public:
  explicit AccessCore(AccessOptions options = {}) : options_(options) {}

  AccessActions on_request(std::uint64_t request, const http::AccessQuestion& question, TimePoint now);
  /// `status`: that of the TokenReview; null if the review failed.
  AccessActions on_token_review(const std::string& token, const Json& status, TimePoint now);
  /// `spec` as in the action; `status`: that of the SubjectAccessReview; null if the review failed.
  AccessActions on_rights_review(const std::string& spec, const Json& status, TimePoint now);

  std::size_t tokens() const { return tokens_.size(); }
  std::size_t rights() const { return rights_.size(); }

 private:
  struct Waiting {
    std::uint64_t request = 0;
    std::string verb = {};
    std::string path = {};
  };
  struct Token {
    std::optional<TimePoint> until = {};  ///< Unset while the review runs.
    Json user = {};                       ///< Null: not authenticated.
    std::vector<Waiting> waiting = {};
  };
  struct Right {
    std::optional<TimePoint> until = {};
    bool allowed = false;
    std::string user = {};
    std::vector<std::uint64_t> waiting = {};
  };

  void check_rights(const Json& user, const Waiting& asked, TimePoint now, AccessActions& actions);
  template <class Entries>
  static bool make_room(Entries& entries, std::size_t most, TimePoint now);

  const AccessOptions options_;
  std::map<std::string, Token> tokens_;
  std::size_t token_reviews_ = 0;  // that run
  std::map<std::string, Right> rights_;
};

/// Returns the spec of the SubjectAccessReview that asks for a right of a user of a TokenReview's status.
Json rights_question(const Json& user, std::string_view verb, std::string_view path);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
