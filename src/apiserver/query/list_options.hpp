// SPDX-License-Identifier: Apache-2.0
// Parses and validates limit, continue, resourceVersion and related parameters.
// Source: apimachinery metainternalversion/validation, apiserver storage/continue.go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/query/rest_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns an integer of the query, 0 if it is absent. Throws StatusError (400).
std::int64_t query_integer(const Query& query, std::string_view name);

/// The content of a continue token. Version 0: the current one (the list is not consistent any more).
struct Continuation {
  std::uint64_t version = 0;
  std::string start = {};  ///< First key of the page, relative to the list's prefix.
};
std::string encode_continue(const Continuation& next);

struct ListOptions {
  std::size_t limit = 0;  ///< 0: all.
  std::optional<Continuation> next = {};
  std::uint64_t version = 0;
  bool exact = false;   ///< The list at exactly `version`.
  bool cached = false;  ///< Any version that is not older than `version`.
};
/// Throws StatusError (400, 422).
ListOptions list_options(const Query& query);

/// Returns resourceVersion of a GET of one object, the minimum version. Throws StatusError (500).
std::uint64_t object_version(const Query& query);

struct WatchOptions {
  /// Both unset and 0 start with the existing objects.
  std::uint64_t version = 0;
  bool version_given = false;
  std::optional<bool> send_initial_events = {};
  bool bookmarks = false;
  std::optional<std::int64_t> timeout_seconds = {};
};
/// Throws StatusError (422; 500 for a resourceVersion that is not a number).
WatchOptions watch_options(const Query& query);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
