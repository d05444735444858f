// SPDX-License-Identifier: Apache-2.0
// Options of the watches of a controller.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/handler.hpp>
#include <evenkeel/controller/predicate.hpp>
#include <evenkeel/workqueue/queue_item.hpp>

namespace evenkeel {
inline namespace v0 {

/// Selects the events of a watched kind that cause a reconcile, and the keys that they add.
struct TriggerOptions {
  Predicate when = {};                        ///< Events for which it returns false are ignored.
  OwnerMatch owner = OwnerMatch::controller;  ///< For owns(): the owners whose keys are added.
  /// Priority of the added keys. Default: 0, and Lane::slow for first lists and resyncs.
  std::optional<Priority> priority = {};
  Duration delay = Duration::zero();  ///< Delay from an event to its reconcile; an earlier due time wins.
  /// Form in which the cache keeps the kind. With WireForm::metadata_only, mappings take a WireObject, and
  /// reads of whole objects go to the server. WireForm::projected keeps only the members that the C++ type of
  /// the clause has.
  WireForm form = WireForm::whole;
  /// Namespaces that are watched, each by a separate informer. Default: that of the cache.
  std::vector<std::string> namespaces = {};
  /// Only objects that match are watched and cached: "app=web". An object that no longer matches causes a
  /// deletion event although it still exists, and reads of the kind go to the server; see
  /// docs/controllers.md.
  std::string label_selector = {};
  std::string field_selector = {};  ///< "type=Opaque"; like label_selector.
  /// See InformerOptions::resync. Default: that of the cache. Watches of the same objects share an informer,
  /// which uses the value of the first watch.
  std::optional<Duration> resync = {};
};

}  // namespace v0
}  // namespace evenkeel
