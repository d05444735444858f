// SPDX-License-Identifier: Apache-2.0
#include "apiserver/webhook/conversions.hpp"

#include <algorithm>
#include <utility>

#include "apiserver/text/identity.hpp"
#include "apiserver/webhook/webhook_review.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

std::string key_of(const std::string& version, const Json& document) {
  return version + "\n" + document.dump();
}

/// Returns what a webhook gets: stored objects have no resourceVersion.
Json without_version(Json document) {
  document["metadata"].erase("resourceVersion");
  return document;
}

}  // namespace

void KnownConversions::take(const std::vector<WebhookProgress::Known>& answers) {
  if (!order_) return;
  const auto known = std::find_if(answers.rbegin(), answers.rend(),
                                  [this](const auto& each) { return each.asked == order_body_; });
  if (known == answers.rend()) return;
  const ConversionOrder order = std::move(*std::exchange(order_, std::nullopt));
  try {
    std::vector<Json> documents = converted_by(order, known->answer);
    for (std::size_t i = 0; i < documents.size(); ++i)
      outcomes_.insert_or_assign(key_of(order.version, order.objects[i]), std::move(documents[i]));
  } catch (const StatusError& failed) {
    if (is_about_its_objects(order, known->answer)) {
      most_objects_ = order.objects.size() / 2;
      return;
    }
    for (const Json& object : order.objects)
      outcomes_.insert_or_assign(key_of(order.version, object), failed);
  }
}

void KnownConversions::ask(ConversionOrder order) {
  order.uid = Identity(seed_ + ++asked_).uid();
  WebhookCall call = conversion_call(order);
  order_body_ = call.body;
  order_ = std::move(order);
  throw WebhookNeeded{std::move(call)};
}

std::vector<Json> KnownConversions::convert(const ResourceTypePtr& type, std::vector<Json> documents,
                                            const std::string& version,
                                            const std::vector<WebhookProgress::Known>& answers) {
  take(answers);
  ConversionOrder missing{.type = type, .version = version};
  std::size_t bytes = 0;
  for (Json& document : documents) {
    if (std::as_const(document)["apiVersion"] == Json(missing.api_version())) continue;
    const std::string key = key_of(version, document);
    if (const auto known = outcomes_.find(key); known != outcomes_.end()) {
      if (const auto* failed = std::get_if<StatusError>(&known->second)) throw StatusError(*failed);
      document = std::get<Json>(known->second);
      continue;
    }
    bytes += key.size();
    const bool fits = missing.objects.size() < most_objects_ && bytes <= most_bytes_in_a_review;
    if (fits || missing.objects.empty()) missing.objects.push_back(document);
  }
  if (!missing.objects.empty()) ask(std::move(missing));
  return documents;
}

namespace {

std::vector<Json> convert(const Call& call, std::vector<Json> documents, const std::string& version) {
  return call.webhooks.conversions->convert(call.type, std::move(documents), version, call.webhooks.known);
}

}  // namespace

StoredPtr stored_in(const ResourceType& type, Json document, std::uint64_t version) {
  document.erase("apiVersion");
  document.erase("kind");
  document["metadata"]["resourceVersion"] = std::to_string(version);
  return std::make_shared<const Stored>(document, version,
                                        StoredForm{.shape = type.shape, .version = type.version});
}

void bring_to_version(Call& call, std::vector<StoredPtr>& objects) {
  const ResourceType& type = *call.type;
  std::vector<Json> documents;
  for (const StoredPtr& object : objects)
    if (type.converts(*object)) documents.push_back(without_version(type.document_as_stored(*object)));
  if (documents.empty()) return;
  documents = convert(call, std::move(documents), type.version);
  auto next = documents.begin();
  for (StoredPtr& object : objects)
    if (type.converts(*object)) object = stored_in(type, std::move(*next++), object->version());
}

StoredPtr in_version(Call& call, const StoredPtr& object) {
  std::vector<StoredPtr> one = {object};
  bring_to_version(call, one);
  return std::move(one.front());
}

Json in_version(Call& call, const Json& document, const ResourceType& type) {
  if (document.is_null() || document["kind"] != Json(type.kind) ||
      document["apiVersion"] == Json(type.api_version()))
    return document;
  if (!type.hook) {
    Json out = document;
    out["apiVersion"] = type.api_version();
    return out;
  }
  try {
    return converted(call, document, type.version);
  } catch (const StatusError& failed) {
    throw internal_error(failed.body()["message"].string_or(""));
  }
}

Json document_of(Call& call, const StoredPtr& object) {
  if (!call.type->converts(*object)) return call.storage.document(*call.type, object);
  return call.type->document(*in_version(call, object));
}

Json converted(Call& call, Json document, const std::string& version) {
  std::vector<Json> one;
  one.push_back(std::move(document));
  return std::move(convert(call, std::move(one), version).front());
}

std::vector<Json> converted(Call& call, std::vector<Json> documents, const std::string& version) {
  return convert(call, std::move(documents), version);
}

namespace {

/// Lifetime: as the call.
class CallVersions final : public OtherVersions {
 public:
  explicit CallVersions(const Call& call) : call_(call) {}

  const KindSchema& schema(const std::string& api_version) override {
    const ResourceType& type = *call_.type;
    const std::size_t slash = api_version.find('/');
    const auto at = api_version.substr(0, slash) != type.group || slash == std::string::npos
                        ? type.schemas.end()
                        : type.schemas.find(std::string_view(api_version).substr(slash + 1));
    if (at == type.schemas.end())
      throw StatusError(500, "", "request to convert CR to an invalid group/version: " + api_version);
    return *at->second;
  }
  Json convert(const Json& object, const std::string& api_version) override {
    schema(api_version);  // refuses a version that was removed
    // An object that has its kind only is no question for a webhook.
    if (object.size() <= 2) {
      Json out = object;
      out["apiVersion"] = api_version;
      return out;
    }
    return apiserver::convert(call_, {object}, api_version.substr(api_version.find('/') + 1)).front();
  }

 private:
  const Call& call_;
};

}  // namespace

std::shared_ptr<OtherVersions> other_versions(const Call& call) {
  return call.type->hook ? std::make_shared<CallVersions>(call) : nullptr;
}

std::optional<std::uint64_t> pinned_version(const Call& call) {
  if (!call.type->hook) return std::nullopt;
  std::optional<std::uint64_t>& pinned = call.webhooks.conversions->read_at;
  const Store& store = call.storage.store;
  if (!pinned || *pinned < store.oldest_version()) pinned = store.version();
  return pinned;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
