// SPDX-License-Identifier: Apache-2.0
// The effects of this program's writes that the watch has not delivered yet: an overlay on a store. No clock
// and no lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/detail/object_tree.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/cache/write_effect.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The pending effects on one object.
struct PendingWrites {
  struct Removed {
    std::string uid;
    std::string version;  // of the object, while it existed; may be empty
    TimePoint until;
  };

  std::optional<WriteEffect> written = {};  ///< The newest state.
  std::vector<Removed> removed = {};
  std::vector<WriteEffect> unknown = {};

  bool empty() const noexcept { return !written && removed.empty() && unknown.empty(); }
  /// Returns true if `object` was removed, or is a state of before another object of its name was removed.
  bool is_over(const WireObject& object) const;
  /// Returns true if only the server knows the state: an effect says so, or reads would show an object which
  /// may be older than a removed one of its name.
  bool is_unknown(const WireObject& delivered) const;
  /// Returns true if is_unknown() can be true.
  bool may_be_unknown() const;
  /// Returns what reads show in place of `delivered`, the state that the watch has delivered; either may be
  /// empty.
  WireObject over(const WireObject& delivered) const;
};

/// The pending effects on all objects, by key.
struct PendingTable {
  struct KeyLess {
    using is_transparent = void;
    static TreeKey view(const ObjectKey& key) { return {key.namespace_, key.name}; }
    static TreeKey view(const TreeKey& key) { return key; }
    template <class Left, class Right>
    bool operator()(const Left& left, const Right& right) const {
      return view(left) < view(right);
    }
  };
  using Map = std::map<ObjectKey, PendingWrites, KeyLess>;

  Map objects = {};
};

/// The pending effects on the objects of a store.
/// Driver: the owner of the store
///  1. calls on_write() with each effect, and the state that the watch has delivered of its object;
///  2. calls on_added(), on_stored() and on_removed() with each change that the watch delivers, and
///  on_reached() with the
///     resourceVersion that it has reached then;
///  3. calls on_timeout() with the time before it reads, if next_due() has passed;
///  4. passes the delivered state of an object through PendingWrites::over() when it is read.
/// Nothing is pending as a rule: then 2 costs some nanoseconds, and 3 and 4 are not needed.
/// Thread safety: one thread at a time.
class OwnWrites {
 public:
  OwnWrites() = default;
  OwnWrites(const OwnWrites&) = delete;
  OwnWrites& operator=(const OwnWrites&) = delete;

  using Entries = PendingTable::Map;

  void on_write(WriteEffect effect, const WireObject& delivered);
  /// The object was not there: it is new, or has come back into the selection.
  void on_added(const WireObject& object);
  void on_stored(const WireObject& object);
  void on_removed(const WireObject& object);
  /// A version that is not greater than the last one means that the server was restored: it may have lost the
  /// writes, so nothing is pending any more.
  void on_reached(std::string_view version);
  void on_timeout(TimePoint now);
  /// Not later than the end of the first pending effect.
  TimePoint next_due() const noexcept { return next_due_; }

  bool empty() const noexcept { return table_.objects.empty(); }
  /// Number of objects that may have an unknown state.
  std::size_t unknown() const noexcept { return unknown_; }
  const PendingTable& table() const noexcept { return table_; }
  const PendingWrites* find(const TreeKey& key) const;

 private:
  // Deletions that the watch delivered before the answer of the request was seen.
  static constexpr std::size_t remembered_removals = 256;

  void on_written(PendingWrites& pending, WriteEffect effect);
  void on_own_removal(PendingWrites& pending, const WriteEffect& effect, const WireObject& delivered);
  void on_unknown(PendingWrites& pending, WriteEffect effect, const WireObject& delivered);
  bool was_removed(std::string_view uid) const;
  /// Ends a change of an entry, which had `unknown_before` unknown states.
  void settle(Entries::iterator at, bool unknown_before);

  PendingTable table_;
  Entries& entries_ = table_.objects;
  std::string reached_;
  std::size_t unknown_ = 0;
  TimePoint next_due_ = TimePoint::max();
  std::vector<std::size_t> removals_;  // hashes of uids; a ring
  std::size_t next_removal_ = 0;
};

/// Returns true if `candidate` is an older state than `stored`; false if they cannot be compared.
bool is_older_state(const WireObject& candidate, const WireObject& stored);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
