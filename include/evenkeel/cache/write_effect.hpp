// SPDX-License-Identifier: Apache-2.0
// The effect of one write of this program on one object, as far as the server's answer tells it.
#pragma once

#include <cstdint>
#include <string>

#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {

/// A fact about one object that is newer than what the watch has delivered; see ObjectStore::record().
struct WriteEffect {
  enum class Kind : std::uint8_t {
    written,   ///< `object` is the state after the write.
    removed,   ///< The object with `uid` does not exist any more. A uid never comes back.
    changed,   ///< The state is unknown until the watch has reached `version`: the write had another answer.
    outdated,  ///< The state is unknown until the watch shows a newer one than `version`: a conflict.
    ending,  ///< The state is unknown until the watch shows that `uid` is being deleted or gone: an eviction.
    absent,  ///< Like `ending`, for the object that the watch shows now: the server does not find it.
    present,  ///< The state is unknown until the watch shows an object: the name is taken.
    unknown,  ///< The state is unknown until `until`: the answer was lost.
  };
  /// Position of `object` relative to the selector of a store.
  enum class Selection : std::uint8_t {
    inside,     ///< It is selected.
    outside,    ///< It is not selected: reads do not return it, nor an older state.
    undecided,  ///< Only the server can tell: reads return it in place of an older state, and do not add it.
  };

  Kind kind = Kind::written;
  std::string namespace_ = {};
  std::string name = {};
  WireObject object = {};  ///< For `written`.
  std::string uid = {};    ///< For `removed` and `ending`; empty: any.
  /// For `changed` and `outdated`; for `removed`, a version of the object. Empty: that of the object that
  /// reads show now.
  std::string version = {};
  TimePoint until = TimePoint::max();  ///< The effect is dropped at this time.
  Selection selection = Selection::inside;
};

}  // namespace v0
}  // namespace evenkeel
