// SPDX-License-Identifier: Apache-2.0
// Objects of running watches that a webhook converts: one conversion of an object serves all watches of a
// version.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
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

/// Thread safety: one thread at a time.
class ConversionDesk {
 public:
  /// Returns the object in the version of `type`, which settles later unless it has that version already. It
  /// is forgotten with the last pointer to it.
  ConvertedPtr order(const ResourceTypePtr& type, const StoredPtr& object);
  /// Returns the calls for what was ordered since.
  std::vector<WatchWebhookCall> take_calls();
  /// Settles the objects of a call. Returns false for an unknown one.
  bool on_answer(std::uint64_t id, const WebhookAnswer& answer);

 private:
  using Target = std::weak_ptr<ConvertedObject>;
  struct Ordered {
    ResourceTypePtr type;
    StoredPtr object;
    Target target;
  };
  struct Asked {
    ConversionOrder order;
    std::vector<Ordered> parts;  // of the order's objects
  };
  using Key = std::pair<const ResourceType*, const Stored*>;

  void add_call(Asked asked, std::vector<WatchWebhookCall>& calls);
  static void fail(const std::vector<Ordered>& parts, const StatusError& error);
  void forget_unused();

  Identity identity_{0xc04fe25105ULL};
  std::uint64_t last_call_ = 0;
  std::vector<Ordered> waiting_;
  std::map<std::uint64_t, Asked> asked_;
  std::map<Key, Ordered> known_;  // each keeps its type and object, so that a key stays unique
  std::size_t forget_at_ = 64;
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
