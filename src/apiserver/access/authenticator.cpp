// SPDX-License-Identifier: Apache-2.0
#include "apiserver/access/authenticator.hpp"

#include <algorithm>
#include <chrono>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "apiserver/access/authorizer.hpp"
#include "apiserver/text/json_members.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Encodes base64 for URLs, without padding.
std::string base64_url(std::string_view bytes) {
  std::string out(bytes.size() * 4 / 3 + 8, '\0');
  const int length =
      EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
  out.resize(static_cast<std::size_t>(length));
  while (out.ends_with('=')) out.pop_back();
  for (char& c : out) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return out;
}

/// Decodes base64 for URLs; std::nullopt if it is not valid.
std::optional<std::string> from_base64_url(std::string_view text) {
  std::string padded(text);
  for (char& c : padded) c = c == '-' ? '+' : c == '_' ? '/' : c;
  const std::size_t padding = (4 - padded.size() % 4) % 4;
  padded.append(padding, '=');
  std::string out(padded.size() / 4 * 3 + 4, '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(padded.data()), static_cast<int>(padded.size()));
  if (length < static_cast<int>(padding)) return std::nullopt;
  out.resize(static_cast<std::size_t>(length) - padding);
  return out;
}

bool equal_secrets(std::string_view one, std::string_view other) {
  return one.size() == other.size() && CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

std::vector<std::string> common_items(const std::vector<std::string>& one,
                                      const std::vector<std::string>& other) {
  std::vector<std::string> out;
  for (const std::string& each : one)
    if (std::find(other.begin(), other.end(), each) != other.end()) out.push_back(each);
  return out;
}

}  // namespace

Json user_document(const Caller& caller) {
  Json out = Json::object({{"username", caller.user}, {"groups", json_strings(caller.groups)}});
  if (!caller.uid.empty()) out["uid"] = caller.uid;
  for (const auto& [name, values] : caller.extra) out["extra"][name] = json_strings(values);
  return out;
}

std::int64_t unix_seconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

Caller authenticated(Caller caller) {
  if (!is_in_group(caller, "system:authenticated") && !is_in_group(caller, "system:unauthenticated"))
    caller.groups.emplace_back("system:authenticated");
  return caller;
}

std::string Authenticator::signature(std::string_view text) const {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), key_.data(), static_cast<int>(key_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return base64_url({reinterpret_cast<const char*>(digest), size});
}

std::string Authenticator::issue(const Json& claims) const {
  const Json head = Json::object({{"alg", "HS256"}, {"typ", "JWT"}});
  const std::string text = base64_url(head.dump()) + "." + base64_url(claims.dump());
  return text + "." + signature(text);
}

std::optional<Json> Authenticator::claims_of(std::string_view token) const {
  const std::size_t last = token.rfind('.');
  if (last == std::string_view::npos) return std::nullopt;
  const std::string_view text = token.substr(0, last);
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || !equal_secrets(signature(text), token.substr(last + 1)))
    return std::nullopt;
  const auto payload = from_base64_url(text.substr(dot + 1));
  if (!payload) return std::nullopt;
  return Json::parse(*payload);
}

TokenVerdict Authenticator::check(Storage& storage, std::string_view token,
                                  const std::vector<std::string>& audiences, WallTime now) const {
  const std::vector<std::string> own = {std::string(token_issuer)};
  const std::vector<std::string>& wanted = audiences.empty() ? own : audiences;
  const TokenVerdict unknown{.problem = "invalid bearer token"};
  for (const TokenUser& user : tokens_) {
    if (!equal_secrets(user.token, token)) continue;
    if (user.expires && *user.expires <= now) return unknown;
    std::vector<std::string> accepted = common_items(own, wanted);
    if (accepted.empty()) return unknown;
    return {.caller = authenticated(user.caller), .audiences = std::move(accepted)};
  }
  const std::optional<Json> claims = claims_of(token);
  if (!claims) return unknown;
  if ((*claims)["exp"].integer_or(0) <= unix_seconds(now))
    return {.problem = "[invalid bearer token, service account token has expired]"};
  const std::vector<std::string> issued = strings_of((*claims)["aud"]);
  std::vector<std::string> accepted = common_items(issued, wanted);
  if (accepted.empty())
    return {.problem = "[invalid bearer token, token audiences " + quoted_list(issued) +
                       " is invalid for the target audiences " + quoted_list(wanted) + "]"};
  const Json& bound = (*claims)["kubernetes.io"];
  const std::string space = bound["namespace"].string_or("");
  const std::string name = bound.at({"serviceaccount", "name"}).string_or("");
  const Collection& accounts = storage.store.collection("", "serviceaccounts", true);
  const StoredPtr account = storage.store.find(accounts, accounts.key_of(space, name));
  if (!account || Json(account->uid()) != bound.at({"serviceaccount", "uid"}))
    return {.problem = "[invalid bearer token, service account " + space + "/" + name + " has been deleted]"};
  Caller caller = service_account_caller(space, name);
  caller.uid = account->uid();
  caller.extra = {{"authentication.kubernetes.io/credential-id", {"JTI=" + (*claims)["jti"].string_or("")}}};
  return {.caller = std::move(caller), .audiences = std::move(accepted)};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
