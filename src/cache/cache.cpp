// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <tuple>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/cache/detail/job_runner.hpp>

#include "cache/server_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

/// Lists and watches through a client.
class ClientSource final : public CollectionSource {
 public:
  ClientSource(Client client, ResourceId resource, const InformerOptions& options)
      : client_(std::move(client)) {
    request_.resource = std::move(resource);
    request_.namespace_ = options.namespace_;
    if (!options.label_selector.empty()) request_.query.emplace_back("labelSelector", options.label_selector);
    if (!options.field_selector.empty()) request_.query.emplace_back("fieldSelector", options.field_selector);
    metadata_only_ = options.form == WireForm::metadata_only;
  }

  std::shared_ptr<http::Call> stream(const ReflectorStep& step,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    RestRequest request = request_;
    for (auto& parameter : query_of(step)) request.query.push_back(std::move(parameter));
    if (metadata_only_) request.accept = accept_metadata(std::holds_alternative<ListRequest>(step));
    return client_.stream(request, std::move(handler));
  }

 private:
  const Client client_;
  RestRequest request_;
  bool metadata_only_ = false;
};

bool same_collection(const InformerOptions& left, const InformerOptions& right) {
  return std::tie(left.namespace_, left.label_selector, left.field_selector) ==
         std::tie(right.namespace_, right.label_selector, right.field_selector);
}

bool same_resource(const ResourceId& left, const ResourceId& right) {
  return left.plural == right.plural && left.group == right.group && left.version == right.version;
}

/// Returns the namespace of a read of this kind; empty for cluster-scoped kinds, as on the server.
std::string scope_of(const ResourceId& resource, const std::string& namespace_) {
  return resource.scope == Scope::namespaced ? namespace_ : std::string();
}

void require_uid(const ResourceId& resource, std::string_view uid) {
  if (uid.empty())
    throw std::invalid_argument(resource.kind + ": the owner has no uid; it was not read from the server");
}

std::function<bool(const WireObject&)> selection(const std::string& label_selector) {
  if (label_selector.empty()) return {};
  return [selector = LabelSelector::parse(label_selector)](const WireObject& object) {
    std::map<std::string, std::string> labels;
    for (const auto& [name, value] : object.labels()) labels.emplace(name, value);
    return selector.matches(labels);
  };
}

}  // namespace

class Cache::Impl {
 public:
  Impl(const Client& client, CacheOptions options)
      : options_(std::move(options)),
        runner_(std::make_shared<detail::JobRunner>(options_.clock ? options_.clock : client.clock(),
                                                    options_.threads)) {}

  const CacheOptions options_;
  const std::shared_ptr<detail::JobRunner> runner_;
  const std::shared_ptr<detail::ServerLog> server_log_ = std::make_shared<detail::ServerLog>();
  mutable Mutex mutex_;
  std::vector<std::unique_ptr<Informer>> informers_ EVENKEEL_GUARDED_BY(mutex_);  // grows only
  bool started_ EVENKEEL_GUARDED_BY(mutex_) = false;
  mutable std::set<std::string> logged_ EVENKEEL_GUARDED_BY(mutex_);  // plural.group of live reads
  mutable std::atomic<std::uint64_t> live_reads_ = 0;
  std::stop_source stopping_;

  std::vector<Informer*> all() const {
    MutexLock lock(mutex_);
    std::vector<Informer*> result;
    for (const auto& informer : informers_) result.push_back(informer.get());
    return result;
  }

  /// Returns a synced informer that holds every object of this namespace (of all namespaces if it is empty).
  const Informer* serving(const ResourceId& resource, const std::string& namespace_) const {
    MutexLock lock(mutex_);
    for (const auto& informer : informers_) {
      const InformerOptions& options = informer->options();
      if (!same_resource(informer->resource(), resource) || options.form != WireForm::whole) continue;
      if (!options.label_selector.empty() || !options.field_selector.empty()) continue;
      if (!options.namespace_.empty() && options.namespace_ != namespace_) continue;
      if (informer->synced()) return informer.get();
    }
    return nullptr;
  }

  void note_live_read(const ResourceId& resource) const {
    live_reads_.fetch_add(1, std::memory_order_relaxed);
    const std::string name =
        resource.group.empty() ? resource.plural : resource.plural + "." + resource.group;
    MutexLock lock(mutex_);
    const bool first = logged_.insert(name).second;
    lock.unlock();
    if (first)
      options_.log.info("reading from the server because the cache cannot answer", {{"resource", name}});
  }
};

Cache::Cache(Client client, CacheOptions options)
    : client_(std::move(client)), impl_(std::make_unique<Impl>(client_, std::move(options))) {}

Cache::~Cache() {
  stop();
}

InformerOptions Cache::default_options() const {
  InformerOptions options;
  options.namespace_ = impl_->options_.namespace_;
  options.reflector = impl_->options_.reflector;
  options.resync = impl_->options_.resync;
  return options;
}

Informer& Cache::informer(const ResourceId& resource, InformerOptions options) {
  if (resource.scope == Scope::cluster) options.namespace_.clear();
  MutexLock lock(impl_->mutex_);
  for (const auto& informer : impl_->informers_) {
    if (!same_resource(informer->resource(), resource) || !same_collection(informer->options(), options))
      continue;
    if (informer->options().form == WireForm::whole || options.form == WireForm::metadata_only)
      return *informer;
  }
  auto source =
      std::make_shared<ClientSource>(client_.with({.stop = impl_->stopping_.get_token()}), resource, options);
  impl_->informers_.push_back(std::make_unique<Informer>(Informer::Parts{.resource = resource,
                                                                         .source = std::move(source),
                                                                         .runner = impl_->runner_,
                                                                         .log = impl_->options_.log,
                                                                         .server_log = impl_->server_log_},
                                                         std::move(options)));
  Informer& informer = *impl_->informers_.back();
  if (impl_->started_) informer.start();
  return informer;
}

void Cache::start() {
  MutexLock lock(impl_->mutex_);
  if (std::exchange(impl_->started_, true)) return;
  for (const auto& informer : impl_->informers_) informer->start();
}

void Cache::stop() {
  impl_->stopping_.request_stop();  // a thread of the cache may be blocked on a token
  for (Informer* informer : impl_->all()) informer->stop();
}

std::size_t Cache::pump() {
  return impl_->runner_->pump();
}

std::optional<TimePoint> Cache::next_due() const {
  return impl_->runner_->next_due();
}

bool Cache::wait_for_sync(std::stop_token stop) const {
  const auto informers = impl_->all();
  return std::all_of(informers.begin(), informers.end(),
                     [&](Informer* informer) { return informer->wait_for_sync(stop); });
}

std::optional<WireObject> Cache::find_wire(const ResourceId& resource, const ObjectKey& key) const {
  const std::string scope = scope_of(resource, key.namespace_);
  const bool complete = !key.name.empty() && (resource.scope == Scope::cluster || !scope.empty());
  const Informer* informer = complete ? impl_->serving(resource, scope) : nullptr;
  if (informer != nullptr) return informer->store().find(scope, key.name);
  impl_->note_live_read(resource);
  return std::nullopt;
}

std::optional<std::vector<WireObject>> Cache::list_wire(const ResourceId& resource,
                                                        const ListOptions& options) const {
  const bool plain =
      options.field_selector.empty() && options.continue_token.empty() && options.resource_version.empty();
  const std::string scope = scope_of(resource, options.namespace_);
  const Informer* informer = plain ? impl_->serving(resource, scope) : nullptr;
  if (informer == nullptr) {
    impl_->note_live_read(resource);
    return std::nullopt;
  }
  std::optional<std::string_view> only;
  if (!scope.empty()) only = scope;
  auto objects = informer->store().list(only, selection(options.label_selector));
  if (options.limit != 0 && objects.size() > options.limit) objects.resize(options.limit);
  return objects;
}

std::optional<std::vector<WireObject>> Cache::owned_wire(const ResourceId& resource, std::string_view uid,
                                                         const std::string& namespace_) const {
  require_uid(resource, uid);
  const std::string scope = scope_of(resource, namespace_);
  const Informer* informer = impl_->serving(resource, scope);
  if (informer == nullptr) {
    impl_->note_live_read(resource);
    return std::nullopt;
  }
  std::vector<WireObject> children = informer->store().by_owner(uid);
  if (!scope.empty())
    std::erase_if(children, [&scope](const WireObject& child) { return child.namespace_() != scope; });
  return children;
}

std::vector<WireObject> detail::list_owned(const Client& client, const ResourceId& resource,
                                           std::string_view uid, const std::string& namespace_) {
  require_uid(resource, uid);
  const RawList list = client.run(calls::list_raw(resource, {.namespace_ = scope_of(resource, namespace_)}));
  WireScanner scanner({.api_version = resource.api_version(), .kind = resource.kind});
  std::vector<WireObject> children;
  for (const std::string_view item : list.items) {
    WireObject object = scanner.object(item);
    const auto owners = object.owners();
    if (std::any_of(owners.begin(), owners.end(), [uid](const WireOwner& owner) { return owner.uid == uid; }))
      children.push_back(std::move(object));
  }
  std::sort(children.begin(), children.end(), [](const WireObject& left, const WireObject& right) {
    return std::pair(left.namespace_(), left.name()) < std::pair(right.namespace_(), right.name());
  });
  return children;
}

void Cache::written(const ResourceId& resource, std::string_view raw) {
  WireObject object;
  for (Informer* informer : impl_->all()) {
    const InformerOptions& options = informer->options();
    if (!same_resource(informer->resource(), resource) || options.form != WireForm::whole) continue;
    if (!options.label_selector.empty() || !options.field_selector.empty()) continue;
    if (!object)
      object = WireScanner({.api_version = resource.api_version(), .kind = resource.kind}).object(raw);
    if (options.namespace_.empty() || options.namespace_ == object.namespace_()) informer->written(object);
  }
}

std::uint64_t Cache::live_reads() const noexcept {
  return impl_->live_reads_.load(std::memory_order_relaxed);
}

std::vector<CollectionHealth> Cache::health() const {
  std::vector<CollectionHealth> result;
  for (Informer* informer : impl_->all())
    result.push_back({informer->resource(), informer->options().namespace_, informer->health()});
  return result;
}

}  // namespace v0
}  // namespace evenkeel
