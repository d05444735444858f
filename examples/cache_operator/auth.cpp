// SPDX-License-Identifier: Apache-2.0
#include "auth.hpp"

#include <evenkeel/api/kinds/core.hpp>

#include "hash.hpp"

namespace cache_operator {
namespace {

// Lines "name:password"; memcached itself ignores others.
bool has_user(const std::string& text) {
  const auto colon = text.find(':');
  return colon != std::string::npos && colon > 0 && colon + 1 < text.size() && text[colon + 1] != '\n';
}

}  // namespace

std::string auth_secret_of(const v1::Memcached& memcached) {
  return memcached.spec.auth ? memcached.spec.auth->secret_name : "";
}

Users read_users(ek::Context& context, const v1::Memcached& memcached) {
  const std::string name = auth_secret_of(memcached);
  if (name.empty()) return {};
  const auto secret = context.find<ek::Secret>({memcached.metadata.namespace_, name});
  if (!secret) return {.reason = "SecretMissing", .problem = "there is no Secret " + name};
  const auto users = secret->data.find(std::string(users_key));
  if (users == secret->data.end() || !has_user(users->second.value()))
    return {.reason = "SecretInvalid",
            .problem = "Secret " + name + " has no line name:password in the key " + std::string(users_key)};
  return {.hash = hash_of(users->second.value())};
}

}  // namespace cache_operator
