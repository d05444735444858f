// SPDX-License-Identifier: Apache-2.0
// Parses and validates CreateOptions, UpdateOptions, PatchOptions and DeleteOptions of a request.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/request/call.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

enum class FieldValidation : std::uint8_t { ignore, warn, strict };

struct WriteOptions {
  bool dry_run = false;
  FieldValidation validation = FieldValidation::warn;
  std::string manager = {};
  bool force = false;
};

/// Throws StatusError (422) for options that `kind` ("CreateOptions", ...) does not permit. For server-side
/// apply `applies` is set: fieldManager is required, and force is permitted.
enum class Applies : bool { no, yes };
WriteOptions write_options(const Call& call, std::string_view kind, Applies applies = Applies::no);

enum class Propagation : std::uint8_t { unset, background, foreground, orphan };

struct DeleteOptions {
  bool dry_run = false;
  Propagation propagation = Propagation::unset;
  std::optional<std::string> uid = {};
  std::optional<std::string> resource_version = {};
  std::optional<std::int64_t> grace_period = {};
  /// orphanDependents was given and false: an object that is only marked gets a 202.
  bool cascade_asked_the_old_way = false;
  Json document = {};  ///< The options as webhooks see them.
};

/// Parses the body if there is one, which overrides the query, else the query. Throws StatusError.
DeleteOptions delete_options(const Call& call);
/// Validates a document; null: all options have their defaults. Throws StatusError (422).
DeleteOptions delete_options(const Json& options);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
