// SPDX-License-Identifier: Apache-2.0
// Bearer tokens: those that are given, and those that the server issues for service accounts.
// Source: kubernetes pkg/serviceaccount.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/store/storage.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

inline constexpr std::string_view token_issuer = "https://kubernetes.default.svc";

/// The result of a check of a token.
struct TokenVerdict {
  std::optional<Caller> caller = {};
  std::vector<std::string> audiences = {};
  std::string problem = {};  ///< Set without a caller.
};

/// Thread safety: one thread at a time.
class Authenticator {
 public:
  /// Tokens are signed with `key`.
  explicit Authenticator(std::string key) : key_(std::move(key)) {}

  void accept(std::vector<TokenUser> tokens) { tokens_ = std::move(tokens); }
  /// Returns a token for a service account; `claims` is its payload.
  std::string issue(const Json& claims) const;
  /// Checks a token for one of `audiences`; empty: for the API server.
  TokenVerdict check(Storage& storage, std::string_view token, const std::vector<std::string>& audiences,
                     WallTime now) const;

 private:
  std::string signature(std::string_view text) const;
  std::optional<Json> claims_of(std::string_view token) const;

  const std::string key_;
  std::vector<TokenUser> tokens_ = {};
};

/// Returns the userInfo of a user.
Json user_document(const Caller& caller);
std::int64_t unix_seconds(WallTime time);
/// Returns the caller with the group system:authenticated.
Caller authenticated(Caller caller);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
