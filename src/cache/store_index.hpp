// SPDX-License-Identifier: Apache-2.0
// One index of a store: for each value the objects that have it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <evenkeel/cache/detail/object_tree.hpp>
#include <evenkeel/cache/object_index.hpp>
#include <evenkeel/cache/object_store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Values of an object in an index: sorted, none empty, none twice.
using IndexValues = std::vector<std::string>;

/// The entries of an index. An entry is a tree of objects, which readers keep while the writer goes on.
/// Thread safety: one thread at a time; trees that find() returned are read without a lock.
class IndexEntries {
 public:
  /// Applies a change; `values` are those of its new state.
  void apply(const StoreDelta& delta, const IndexValues& values);
  void put(const WireObject& object, const IndexValues& values) { replace({}, object, values); }
  /// Returns the objects with this value; empty if there are none.
  Counted<ObjectTree> find(std::string_view value) const;

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Entries = std::unordered_map<std::string, Counted<ObjectTree>, TextHash, std::equal_to<>>;
  using Entry = Entries::value_type;

  void replace(const WireObject& old, const WireObject& object, const IndexValues& values);
  void drop(Entry& entry, const TreeKey& key);

  Entries entries_;
  // The entries of each object that has any. An object is identified by the address of its name.
  std::unordered_multimap<const char*, Entry*> places_;
};

/// An index and its state in a store. All members but `definition` and `kept` are guarded by the store's
/// lock.
struct StoreIndex {
  StoreIndex(IndexDefinition definition_, bool kept_) : definition(std::move(definition_)), kept(kept_) {}

  const IndexDefinition definition;
  const bool kept;     ///< False: there are no entries, reads look at all objects.
  bool ready = false;  ///< False: the entries are being built, reads look at all objects.
  IndexEntries entries;
  std::vector<std::pair<StoreDelta, IndexValues>> missed;  ///< Changes since the building began.

  /// Returns the values of `object`. Throws what the function throws.
  IndexValues values_of(const WireObject& object) const;
  /// Returns true if `object` has this value; false if the function throws.
  bool has(const WireObject& object, std::string_view value) const noexcept;
};

/// Returns the definition of the index by the uids of owners, whose name is empty.
IndexDefinition owner_index();

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
