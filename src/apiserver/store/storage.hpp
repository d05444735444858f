// SPDX-License-Identifier: Apache-2.0
// The state of a server that its handlers and controllers share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "apiserver/schema/schema.hpp"
#include "apiserver/store/registry.hpp"
#include "apiserver/store/store.hpp"
#include "apiserver/text/identity.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The initial resourceVersion of a server. Smaller ones are in the past, as on a server that has run for
/// some time.
inline constexpr std::uint64_t first_resource_version = 1000;

/// Objects, the registry of resources, and the generator of uids and names.
/// Thread safety: none; owned by the core.
struct Storage {
  /// `history` is the number of changes that watches can go back; `seed` that of names and uids.
  Storage(std::uint64_t seed, std::size_t history)
      : identity(seed), store(history, first_resource_version), registry(catalog, store) {}

  Identity identity;
  Store store;
  SchemaCatalog catalog = {};
  Registry registry;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
