// SPDX-License-Identifier: Apache-2.0
// limit, continue, resourceVersion and their kin: read and checked.
// Source: apimachinery metainternalversion/validation, apiserver storage/continue.go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/rest/rest_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// An integer of the query, 0 if it is absent. Throws StatusError (400).
std::int64_t query_integer(const Query& query, std::string_view name);

/// What a continue token says. Version 0: whatever is current (the list is no longer consistent).
struct Continuation {
  std::uint64_t version = 0;
  std::string start = {};  ///< The first key of the page, below the list's prefix.
};
std::string encode_continue(const Continuation& next);

struct ListOptions {
  std::size_t limit = 0;  ///< 0: all.
  std::optional<Continuation> next = {};
  std::uint64_t version = 0;
  bool exact = false;   ///< The list as it was at `version`.
  bool cached = false;  ///< Any version that is not older than `version` will do.
};
/// Throws StatusError (400, 422).
ListOptions list_options(const Query& query);

/// resourceVersion of a GET of one object: at least this one is to be shown. Throws StatusError (500).
std::uint64_t object_version(const Query& query);

struct WatchOptions {
  /// Unset and 0 both start with what there is.
  std::uint64_t version = 0;
  bool version_given = false;
  std::optional<bool> send_initial_events = {};
  bool bookmarks = false;
  std::optional<std::int64_t> timeout_seconds = {};
};
/// Throws StatusError (422; 500 for a resourceVersion that is no number).
WatchOptions watch_options(const Query& query);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
