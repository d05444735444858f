// SPDX-License-Identifier: Apache-2.0
// The changes of a reference that its controllers can have noticed, by what they read in their caches.
//
// Sieve (OSDI'22) keeps a pair of a read and a later write that depends on it. Here every read counts, of any
// run: one that wrote nothing has decided by what it read to write nothing, and an old state could have made
// it write. A read of an object that does not exist counts as one of the object, a list as one of every
// object of its namespace, and a predicate, a mapping or a timer of the program as a read of all that it is
// given. Only what is read in caches can be old or late, so that reads of the server do not count.
//
// The remaining changes are of objects that only the runtime reads, to map events to keys. Such an event adds
// a key or has no effect. A process that starts runs every key of its first lists, so a change that these
// lack matters only if it is in the name or the owners of an object; when its event arrives, it can cause
// only one more run of the same key, and each plan ends with such a run anyway. Deletions always count,
// because the server may delete other objects because of them.
#pragma once

#include <map>
#include <string>

#include <evenkeel/controller/controller_spec.hpp>

#include "testing/explore/trace.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// The watches of one kind by all controllers.
struct WatchedKind {
  bool is_examined = false;  ///< Functions of the program are given the objects or the whole cache.
  bool is_primary = false;   ///< An event wakes the key of its object.
  bool is_owned = false;     ///< An event wakes the owners of its object.
};

using WatchedKinds = std::map<std::string, WatchedKind, std::less<>>;  ///< By resource.

void add_watches(const ControllerSpec& spec, WatchedKinds& kinds);

/// The changes that the controllers of a reference can have noticed.
/// Lifetime: keeps references to the arguments of its constructor.
class NoticedChanges {
 public:
  NoticedChanges(const TracedReads& reads, const WatchedKinds& kinds) : reads_(reads), kinds_(kinds) {}

  bool is_watched(const TracedWrite& change) const { return kinds_.contains(change.resource); }
  /// Returns true if it can matter that the event of this change comes late, or never.
  bool is_event_noticed(const TracedWrite& change) const;
  /// Returns true if it can matter that a process starts with caches without this change.
  bool is_state_noticed(const TracedWrite& change) const;

 private:
  bool is_read(const TracedWrite& change, const WatchedKind& kind) const;

  const TracedReads& reads_;
  const WatchedKinds& kinds_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
