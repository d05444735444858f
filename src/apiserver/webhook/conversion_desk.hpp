// SPDX-License-Identifier: Apache-2.0
// Objects of running watches that a webhook converts: one conversion of an object serves all watches of a
// version.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/text/identity.hpp"
#include "apiserver/webhook/conversion_review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// An object on its way into a version of its kind.
struct ConvertedObject {
  StoredPtr object = {};  ///< Null: there is no answer yet, or it failed.
  std::optional<StatusError> failure = {};

  bool settled() const { return object != nullptr || failure.has_value(); }
};
using ConvertedPtr = std::shared_ptr<const ConvertedObject>;

/// Decides if a conversion that failed is tried again: until 30 s after the first failure; a minute without
/// failures makes the next one the first. Source: client-go tools/cache/retry_with_deadline.go, with the
/// figures of apiserver pkg/storage/cacher.
class ConversionPatience {
 public:
  bool tries_again(WallTime now);

 private:
  std::optional<WallTime> first_ = {};
  WallTime last_ = {};
};

/// A failed conversion is tried again every second while the patience with its version lasts, as the watch
/// cache of a real server does, and settles as failed after it. Thread safety: one thread at a time.
class ConversionDesk {
 public:
  /// Returns the object in the version of `type`, which settles later unless it has that version already. It
  /// is forgotten with the last pointer to it.
  ConvertedPtr order(const ResourceTypePtr& type, const StoredPtr& object);
  /// Returns the calls for what was ordered since, and for what is to be tried again.
  std::vector<WatchWebhookCall> take_calls(WallTime now);
  /// Settles the objects of a call. Returns false for an unknown one.
  bool on_answer(std::uint64_t id, const WebhookAnswer& answer, WallTime now);
  /// Returns true if something settled as failed since the last call of this function.
  bool take_failed() { return std::exchange(failed_, false); }
  /// Makes calls of what is due.
  void on_timeout(WallTime now);
  /// Returns the time of the next on_timeout().
  std::optional<WallTime> next_due() const;

 private:
  using Target = std::weak_ptr<ConvertedObject>;
  struct Ordered {
    ResourceTypePtr type;
    StoredPtr object;
    Target target;
    bool alone = false;  ///< In a review of its own.
  };
  struct Postponed {
    WallTime due;
    Ordered ordered;
  };
  struct Asked {
    ConversionOrder order;
    std::vector<Ordered> parts;  // of the order's objects
  };
  using Key = std::pair<const ResourceType*, const Stored*>;

  void add_call(Asked asked, std::vector<WatchWebhookCall>& calls, WallTime now);
  void fail(std::vector<Ordered> parts, const StatusError& error, WallTime now);
  void forget_unused();

  Identity identity_{0xc04fe25105ULL};
  std::uint64_t last_call_ = 0;
  std::vector<Ordered> waiting_;
  std::vector<Postponed> postponed_;
  std::map<std::pair<CollectionId, std::string>, ConversionPatience> patience_;  // by version
  std::map<std::uint64_t, Asked> asked_;
  std::map<Key, Ordered> known_;  // each keeps its type and object, so that a key stays unique
  std::size_t forget_at_ = 64;
  bool failed_ = false;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
