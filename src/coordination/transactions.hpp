// SPDX-License-Identifier: Apache-2.0
// Helpers for the shells that run transactions.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <evenkeel/base/error.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Returns `options` with the token key of one writer.
inline TransactOptions with_token(TransactOptions options, std::string token_key) {
  options.token_key = std::move(token_key);
  options.token.clear();
  return options;
}

/// The condition that `key` still has the version of `entry`.
inline Commit::ReadKey read_of(std::string key, const std::optional<Entry>& entry) {
  return {std::move(key), entry ? entry->version : 0};
}

/// Throws StoreUnavailable with the description `what`, unless the transaction is known to be committed.
inline void require_committed(const Transacted& done, const std::string& what) {
  if (!done.committed()) throw StoreUnavailable(what + ": " + describe(done.outcome));
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
