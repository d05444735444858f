// SPDX-License-Identifier: Apache-2.0
// The Secret that spec.auth names.
#pragma once

#include <string>

#include "memcached_v1.hpp"

namespace cache_operator {

/// Key of the Secret, and name of the file in the containers.
inline constexpr std::string_view users_key = "users";
inline constexpr std::string_view users_folder = "/etc/memcached";

/// The users of a cache.
struct Users {
  std::string hash = {};    // changes if they do; empty for a cache without spec.auth
  std::string reason = {};  // a word and a sentence, if the Secret cannot be used
  std::string problem = {};
};

/// Name of the Secret, for the index by which a changed Secret finds its caches; empty if there is none.
std::string auth_secret_of(const v1::Memcached& memcached);

/// Reads the Secret from the server. The cache has the metadata of Secrets only: it would hold all passwords
/// of the cluster otherwise.
Users read_users(ek::Context& context, const v1::Memcached& memcached);

}  // namespace cache_operator
