// SPDX-License-Identifier: Apache-2.0
// Objects of a request in another version of their kind. As with admission, a request whose webhook has not
// answered yet ends, and begins again with the answer; it then finds here what it has asked for.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "apiserver/merge/versions.hpp"
#include "apiserver/request/call.hpp"
#include "apiserver/webhook/conversion_review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Thrown where a request needs the answer of a webhook, and caught by ApiServerCore.
struct WebhookNeeded {
  WebhookCall call;
};

/// The conversions that a request has asked for; handed on while the request waits. A review of several
/// objects that fails is divided until the first object is found that cannot be converted: the error is that
/// of a review of its own, as a real server has it.
class KnownConversions {
 public:
  /// `seed` is that of the request's uids.
  explicit KnownConversions(std::uint64_t seed) : seed_(seed) {}

  /// Returns the documents, all of the kind of `type`, in a version of it. Throws WebhookNeeded, and
  /// StatusError if one could not be converted.
  std::vector<Json> convert(const ResourceTypePtr& type, std::vector<Json> documents,
                            const std::string& version, const std::vector<WebhookProgress::Known>& answers);

  /// The state that a read shows: the one of the time at which it began.
  std::optional<std::uint64_t> read_at = {};

 private:
  using Outcome = std::variant<Json, StatusError>;

  void take(const std::vector<WebhookProgress::Known>& answers);
  [[noreturn]] void ask(ConversionOrder order);

  const std::uint64_t seed_;
  std::uint64_t asked_ = 0;
  std::size_t most_objects_ = most_objects_in_a_review;
  std::optional<ConversionOrder> order_ = {};
  std::string order_body_ = {};
  std::unordered_map<std::string, Outcome> outcomes_ = {};  // by version and document
};

/// Returns the object in the version of the call: as it is, or converted. Throws WebhookNeeded, StatusError.
StoredPtr in_version(Call& call, const StoredPtr& object);
/// Like it for several, with few reviews.
void bring_to_version(Call& call, std::vector<StoredPtr>& objects);

/// Returns a document of the kind of `call`, or null, in the version of `type`; other documents (of a Scale)
/// as they are. Throws WebhookNeeded, and StatusError with the reason InternalError.
Json in_version(Call& call, const Json& document, const ResourceType& type);

/// Returns the complete document of a stored object in the version of the call.
Json document_of(Call& call, const StoredPtr& object);

/// Converts a document between versions, as writes and their merges need it. Throws WebhookNeeded,
/// StatusError.
Json converted(Call& call, Json document, const std::string& version);
/// Like it for several, with few reviews.
std::vector<Json> converted(Call& call, std::vector<Json> documents, const std::string& version);

/// Returns `document`, which has the version of `type`, as an object that is stored in it.
StoredPtr stored_in(const ResourceType& type, Json document, std::uint64_t version);

/// Returns the versions of the call's kind for its managers; null if a webhook does not convert it.
std::shared_ptr<OtherVersions> other_versions(const Call& call);

/// Returns the state that a read which converts shows; unset for others.
std::optional<std::uint64_t> pinned_version(const Call& call);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
