// SPDX-License-Identifier: Apache-2.0
// The changes of a reference that its controllers can have noticed, by what they read in their caches.
//
// Sieve (OSDI'22) keeps a pair of a read and a later write that depends on it. Here every read counts, of any
// run: one that wrote nothing has decided by what it read to write nothing, and an old state could have made
// it write. A read of an object that does not exist counts as one of the object, a list as one of every
// object of its namespace, and a predicate, a mapping or a timer of the program as a read of all that it is
// given. Only what is read in caches can be old or late, so that reads of the server do not count.
//
// The rest are changes of objects that only the runtime looks at, which maps their events to their own
// keys or to those of their owners. Such an event wakes a key, which is all that it does, or nobody, and then
// it does nothing. A process that starts runs every key that its first lists name, so that a change that is
// missing there matters only if it is in the name or the owners of an object; when the change arrives, it can
// cause one more run of the same key, with which each plan ends anyway. Deletions always count, because the
// server may delete other objects because of them.
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

/// Lifetime: keeps references to the arguments of its constructor.
class Sight {
 public:
  Sight(const TracedReads& reads, const WatchedKinds& kinds) : reads_(reads), kinds_(kinds) {}

  bool is_watched(const TracedWrite& change) const { return kinds_.contains(change.resource); }
  /// Returns true if it can matter that the event of this change comes late, or never.
  bool notices_event(const TracedWrite& change) const;
  /// Returns true if it can matter that a process starts with caches without this change.
  bool notices_state(const TracedWrite& change) const;

 private:
  bool is_read(const TracedWrite& change, const WatchedKind& kind) const;

  const TracedReads& reads_;
  const WatchedKinds& kinds_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
