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

/// A Storage at one time; immutable.
struct FrozenStorage {
  Identity identity;
  FrozenStore store;
  Registry::Frozen registry;
};

/// Objects, the registry of resources, and the generator of uids and names.
/// Thread safety: none; owned by the core.
struct Storage {
  /// `history` is the number of changes that watches can go back; `seed` that of names and uids.
  Storage(std::uint64_t seed, std::size_t history)
      : identity(seed), store(history, first_resource_version), registry(catalog, store) {}
  explicit Storage(const FrozenStorage& from)
      : identity(from.identity), store(from.store), registry(from.registry, catalog, store) {}

  FrozenStorage freeze() { return {identity, store.freeze(), registry.freeze()}; }
  /// Returns the objects of a resource.
  Collection& collection(const ResourceType& type) { return store.at(type.collection); }
  /// Returns the complete document of an object in the version of `type`.
  Json document(const ResourceType& type, const StoredPtr& object) {
    return type.document(object->form(), store.body(object));
  }

  Identity identity;
  Store store;
  SchemaCatalog catalog = {};
  Registry registry;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
