// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <stop_token>
#include <tuple>

#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/cache.hpp>

#include "cache/cache_impl.hpp"
#include "cache/cell_labeler.hpp"
#include "cache/client_source.hpp"
#include "cache/object_transform.hpp"
#include "client/request/bound_limits.hpp"
#include "http/event_loop_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

bool same_collection(const InformerOptions& left, const InformerOptions& right) {
  return std::tie(left.namespace_, left.label_selector, left.field_selector) ==
         std::tie(right.namespace_, right.label_selector, right.field_selector);
}

/// Returns the namespace of a read of this kind; empty for cluster-scoped kinds, as on the server.
std::string scope_of(const ResourceId& resource, const std::string& namespace_) {
  return resource.scope == Scope::namespaced ? namespace_ : std::string();
}

void require_uid(const ResourceId& resource, std::string_view uid) {
  if (uid.empty())
    throw std::invalid_argument(resource.kind + ": the owner has no uid; it was not read from the server");
}

/// Returns a selection of the objects that have an owner reference with this uid; a view.
std::function<bool(const WireObject&)> is_owned_by(std::string_view uid) {
  return [uid](const WireObject& object) {
    const auto owners = object.owners();
    return std::any_of(owners.begin(), owners.end(),
                       [uid](const WireOwner& owner) { return owner.uid == uid; });
  };
}

std::shared_ptr<detail::JobRunner> runner_for(const Client& client, const CacheOptions& options) {
  if (client.event_loop()) return client.event_loop()->state()->runner();
  return std::make_shared<detail::JobRunner>(options.clock ? options.clock : client.clock(), options.threads);
}

}  // namespace

Cache::Impl::Impl(const Client& client, CacheOptions options)
    : options_(std::move(options)),
      runner_(runner_for(client, options_)),
      relay_(std::make_shared<detail::WriteRelay>(
          [this](const detail::ObservedWrite& write) { on_write(write); }, options_.log)) {
  if (!options_.reflector.cell_label.empty())
    labeler_ =
        std::make_shared<detail::CellLabeler>(client, options_.reflector.cell_label, runner_, options_.log);
}

Cache::Cache(Client client, CacheOptions options)
    : client_(detail::unbounded(client)), impl_(std::make_shared<Impl>(client_, std::move(options))) {
  client_.write_observers()->add(impl_->relay_);
}

Cache::~Cache() {
  impl_->relay_->close();
  stop();
}

void Cache::observe(const Client& client) {
  if (client.write_observers() != client_.write_observers()) client.write_observers()->add(impl_->relay_);
}

InformerOptions Cache::default_options() const {
  InformerOptions options;
  options.namespace_ = impl_->options_.namespace_;
  options.reflector = impl_->options_.reflector;
  options.resync = impl_->options_.resync;
  return options;
}

std::shared_ptr<CollectionSource> Cache::Impl::source_of(const Client& client, const ResourceId& resource,
                                                         const InformerOptions& options,
                                                         WireForm form) const {
  return std::make_shared<detail::ClientSource>(client.with({.stop = stopping_.get_token()}), resource,
                                                options, form);
}

/// Returns the file of a collection; null if it is not copied to disk.
std::shared_ptr<const detail::CollectionFile> Cache::Impl::copy_of(const Client& client,
                                                                   const ResourceId& resource,
                                                                   const InformerOptions& options,
                                                                   WireForm form) const {
  if (form == WireForm::metadata_only || form == WireForm::projected || transform_of(resource)) return {};
  return disk_.file_of(client.config().server, resource, options);
}

/// Adds the indexes of its kind to an informer that keeps what they need.
void Cache::Impl::add_indexes(Informer& informer) const {
  for (const auto& [of, index] : indexes_) {
    if (is_indexed(informer, of, index)) informer.add_index(index);
  }
}

/// Returns the function that corrects the label of an object; empty without a label of cells.
std::function<void(const WireObject&)> Cache::Impl::relabels(const ResourceId& resource) const {
  if (!labeler_) return {};
  return [labeler = labeler_, resource](const WireObject& object) { labeler->correct(resource, object); };
}

/// Adds the informer of a collection that has none.
void Cache::Impl::make(const Client& client, const ResourceId& resource, InformerOptions options) {
  const auto copy = copy_of(client, resource, options, options.form);
  Informer::Parts parts{.resource = resource,
                        .source = source_of(client, resource, options, options.form),
                        .runner = runner_,
                        .log = options_.log,
                        .server_log = server_log_,
                        .streaming = streaming_,
                        .copy = copy,
                        .transform = transform_of(resource),
                        .on_mislabelled = relabels(resource),
                        .tracer = client.tracer()};
  const auto informer = std::make_shared<Informer>(std::move(parts), std::move(options));
  informers_.push_back({.informer = informer});
  by_collection_[{resource.group, resource.plural, informer->options().namespace_}].push_back(informer);
  if (share_) informer->select(*share_);
  if (copy) disk_.add(copy, informer);
  add_indexes(*informer);
  if (started_) informer->start();
}

/// Lets an informer keep what another declaration of its collection needs; returns false if it has started.
bool Cache::Impl::widen(const Client& client, const std::shared_ptr<Informer>& informer,
                        const KeptParts& wanted) {
  const KeptParts kept = informer->kept().with(wanted);
  const ResourceId& resource = informer->resource();
  const InformerOptions& options = informer->options();
  const auto copy = copy_of(client, resource, options, kept.form);
  if (!informer->keep(kept, source_of(client, resource, options, kept.form), copy)) return false;
  if (copy) disk_.add(copy, informer);
  add_indexes(*informer);
  return true;
}

/// Returns the entry of a collection; makes it if there is none.
Cache::Impl::Kept& Cache::Impl::kept(const Client& client, const ResourceId& resource,
                                     InformerOptions options) {
  if (resource.scope == Scope::cluster) options.namespace_.clear();
  if (!options_.reflector.streaming_list) options.reflector.streaming_list = false;
  options.reflector.cell_label = options_.reflector.cell_label;
  for (Kept& one : informers_) {
    const InformerOptions& known = one.informer->options();
    if (!detail::same_resource(one.informer->resource(), resource) || !same_collection(known, options))
      continue;
    const KeptParts wanted{.form = options.form, .projection = options.projection};
    if (!one.informer->kept().serve(wanted) && !widen(client, one.informer, wanted)) continue;
    if (!options.divisible) one.informer->require_all();
    return one;
  }
  const bool divisible = options.divisible;
  make(client, resource, std::move(options));
  if (!divisible) informers_.back().informer->require_all();
  return informers_.back();
}

void Cache::Impl::release(const Informer* informer) {
  {
    MutexLock lock(mutex_);
    const auto found = std::find_if(informers_.begin(), informers_.end(),
                                    [informer](const Kept& one) { return one.informer.get() == informer; });
    if (found == informers_.end() || --found->leases > 0 || found->declared) return;
    const ResourceId& resource = informer->resource();
    const auto same = by_collection_.find(
        detail::CollectionView{resource.group, resource.plural, informer->options().namespace_});
    std::erase(same->second, found->informer);
    if (same->second.empty()) by_collection_.erase(same);
    released_.push_back(std::move(found->informer));
    informers_.erase(found);
  }
  runner_->wake(*this);
}

void Cache::Impl::run() noexcept {
  Informers released;
  {
    MutexLock lock(mutex_);
    std::swap(released, released_);
  }
  for (const auto& informer : released) informer->stop();
}

Informer& Cache::informer(const ResourceId& resource, InformerOptions options) {
  MutexLock lock(impl_->mutex_);
  Impl::Kept& kept = impl_->kept(client_, resource, std::move(options));
  kept.declared = true;
  return *kept.informer;
}

std::shared_ptr<Informer> Cache::lease(const ResourceId& resource, InformerOptions options) {
  MutexLock lock(impl_->mutex_);
  Impl::Kept& kept = impl_->kept(client_, resource, std::move(options));
  ++kept.leases;
  return {kept.informer.get(), [impl = std::weak_ptr(impl_)](const Informer* informer) {
            if (const auto cache = impl.lock()) cache->release(informer);
          }};
}

void Cache::index(const ResourceId& resource, IndexDefinition definition) {
  if (impl_->is_declared(resource, definition)) return;
  // A read finds the index in every informer once it is declared.
  impl_->add_index(resource, definition);
  {
    MutexLock lock(impl_->mutex_);
    impl_->indexes_.emplace_back(resource, definition);
  }
  impl_->add_index(resource, definition);  // to informers that were declared in between
}

void Cache::Impl::add_transform(const ResourceId& resource, std::function<void(Json&)> change) {
  MutexLock lock(mutex_);
  if (transform_of(resource))
    throw std::invalid_argument(resource.kind + ": the kind has a transform already");
  for (const Kept& one : informers_) {
    if (detail::same_resource(one.informer->resource(), resource))
      throw std::invalid_argument(resource.kind + ": transform() must come before the first informer");
  }
  transforms_.emplace_back(resource, detail::ObjectTransform(resource, std::move(change), options_.log));
}

void Cache::transform(const ResourceId& resource, std::function<void(Json& object)> transform) {
  impl_->add_transform(resource, std::move(transform));
}

void Cache::select(const HashRanges& wanted) {
  MutexLock lock(impl_->mutex_);
  impl_->share_ = wanted;
  for (const Impl::Kept& kept : impl_->informers_) kept.informer->select(wanted);
}

CellLabelCounts Cache::cell_labels() const {
  return impl_->labeler_ ? impl_->labeler_->counts() : CellLabelCounts();
}

void Cache::start() {
  MutexLock lock(impl_->mutex_);
  if (std::exchange(impl_->started_, true)) return;
  for (const Impl::Kept& kept : impl_->informers_) kept.informer->start();
  if (impl_->runner_->has_threads()) impl_->disk_.start();
}

void Cache::stop() {
  impl_->stopping_.request_stop();  // a thread of the cache may be blocked on a token
  for (const auto& informer : impl_->all()) informer->stop();
  if (impl_->labeler_) impl_->labeler_->close();
  impl_->disk_.stop();
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
                     [&](const auto& informer) { return informer->wait_for_sync(stop); });
}

std::optional<WireObject> Cache::find_parts(const detail::PartsRead& read, const ObjectKey& key,
                                            const Client* live) const {
  const ResourceId& resource = read.resource;
  const std::string scope = scope_of(resource, key.namespace_);
  const bool complete = !key.name.empty() && (resource.scope == Scope::cluster || !scope.empty());
  if (!complete) return std::nullopt;  // the client names what is missing
  impl_->observe_find(resource, scope, key.name);
  const auto informer = impl_->serving(read, scope);
  if (informer == nullptr) {
    impl_->note_live_read(resource);
    return std::nullopt;
  }
  if (informer->store().is_unknown(scope, key.name)) {
    if (live == nullptr) return impl_->give_up();
    impl_->read_unknown(*informer, {{scope, key.name}}, *live);
  }
  WireObject found = informer->store().find(scope, key.name);
  if (!impl_->still_holds(*informer, scope)) return std::nullopt;
  return found;
}

std::optional<std::vector<WireObject>> Cache::list_parts(const detail::PartsRead& read,
                                                         const ListOptions& options,
                                                         const Client* live) const {
  const ResourceId& resource = read.resource;
  const bool plain =
      options.field_selector.empty() && options.continue_token.empty() && options.resource_version.empty();
  const std::string scope = scope_of(resource, options.namespace_);
  impl_->observe_list(resource, scope);
  if (!plain) {  // asked for on purpose
    impl_->count_live_read(resource);
    return std::nullopt;
  }
  const auto informer = impl_->serving(read, scope);
  if (informer == nullptr) {
    impl_->note_live_read(resource);
    return std::nullopt;
  }
  if (!impl_->know_all(*informer, scope, live)) return impl_->give_up();
  std::optional<std::string_view> only;
  if (!scope.empty()) only = scope;
  auto objects = informer->store().list(only, detail::selection(options.label_selector));
  if (!impl_->still_holds(*informer, scope)) return std::nullopt;
  if (options.limit != 0 && objects.size() > options.limit) objects.resize(options.limit);
  return objects;
}

std::optional<std::vector<WireObject>> Cache::owned_parts(const detail::PartsRead& read, std::string_view uid,
                                                          const std::string& namespace_,
                                                          const Client* live) const {
  const ResourceId& resource = read.resource;
  require_uid(resource, uid);
  const std::string scope = scope_of(resource, namespace_);
  impl_->observe_list(resource, scope);
  const auto informer = impl_->serving(read, scope);
  if (informer == nullptr) {
    impl_->note_live_read(resource);
    return std::nullopt;
  }
  if (!impl_->know_all(*informer, scope, live)) return impl_->give_up();
  auto objects = informer->store().by_owner(uid, {.namespace_ = scope});
  if (!impl_->still_holds(*informer, scope)) return std::nullopt;
  return objects;
}

std::vector<WireObject> Cache::indexed_parts(const detail::PartsRead& read, const IndexQuery& query,
                                             IndexListOptions options, const Client& live) const {
  const ResourceId& resource = read.resource;
  impl_->require_index(resource, query.index);
  options.namespace_ = scope_of(resource, options.namespace_);
  impl_->observe_list(resource, options.namespace_);
  const auto informer = impl_->serving(read, options.namespace_);
  if (informer == nullptr) impl_->refuse_index_read(resource, query.index, options.namespace_);
  std::optional<std::string_view> only;
  if (!options.namespace_.empty()) only = options.namespace_;
  impl_->read_unknown(*informer, informer->store().unknown(only), live);  // the server has no such index
  auto objects = informer->store().by_index(query.index, query.value, options);
  if (!informer->holds(options.namespace_))
    impl_->refuse_index_read(resource, query.index, options.namespace_);
  return objects;
}

std::vector<WireObject> detail::list_owned(const Client& client, const ResourceId& resource,
                                           std::string_view uid, const std::string& namespace_) {
  require_uid(resource, uid);
  const RawList list = client.run(calls::list_raw(resource, {.namespace_ = scope_of(resource, namespace_)}));
  WireScanner scanner({.api_version = resource.api_version(), .kind = resource.kind});
  const auto is_child = is_owned_by(uid);
  std::vector<WireObject> children;
  for (const std::string_view item : list.items) {
    WireObject object = scanner.object(item);
    if (is_child(object)) children.push_back(std::move(object));
  }
  std::sort(children.begin(), children.end(), [](const WireObject& left, const WireObject& right) {
    return std::pair(left.namespace_(), left.name()) < std::pair(right.namespace_(), right.name());
  });
  return children;
}

std::optional<bool> Cache::contains(const ResourceId& resource, const ObjectKey& key) const {
  const std::string scope = scope_of(resource, key.namespace_);
  impl_->observe_find(resource, scope, key.name);
  const auto informer = impl_->serving({resource, {.form = WireForm::metadata_only}}, scope);
  if (informer == nullptr || informer->store().is_unknown(scope, key.name)) return std::nullopt;
  const bool found = static_cast<bool>(informer->store().find(scope, key.name));
  if (!informer->holds(scope)) return std::nullopt;
  return found;
}

detail::DecodedObjects& Cache::decoded() const noexcept {
  return impl_->decoded_;
}

std::uint64_t Cache::live_reads() const noexcept {
  return impl_->live_reads_.load(std::memory_order_relaxed);
}

std::vector<CollectionHealth> Cache::health() const {
  std::vector<CollectionHealth> result;
  for (const auto& informer : impl_->all())
    result.push_back({.resource = informer->resource(),
                      .namespace_ = informer->options().namespace_,
                      .selector = informer->options().selector(),
                      .form = informer->kept().form,
                      .informer = informer->health()});
  return result;
}

}  // namespace v0
}  // namespace evenkeel
