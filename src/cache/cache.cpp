// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <deque>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <tuple>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/cache/write_effect.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "cache/call_gate.hpp"
#include "cache/cell_labeler.hpp"
#include "cache/disk_copies.hpp"
#include "cache/object_transform.hpp"
#include "cache/read_observer.hpp"
#include "cache/server_log.hpp"
#include "cache/streaming_memory.hpp"
#include "cache/write_answer.hpp"
#include "client/request/write_observer.hpp"
#include "http/event_loop_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

/// Lists and watches through a client.
class ClientSource final : public CollectionSource {
 public:
  ClientSource(Client client, ResourceId resource, const InformerOptions& options, WireForm form)
      : client_(std::move(client)) {
    request_.resource = std::move(resource);
    request_.namespace_ = options.namespace_;
    if (!options.label_selector.empty()) request_.query.emplace_back("labelSelector", options.label_selector);
    if (!options.field_selector.empty()) request_.query.emplace_back("fieldSelector", options.field_selector);
    metadata_only_ = form == WireForm::metadata_only;
  }

  std::shared_ptr<http::Call> stream(const ReflectorStep& step,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    RestRequest request = request_;
    for (auto& parameter : query_of(step)) add(request, std::move(parameter));
    if (metadata_only_) request.accept = accept_metadata(std::holds_alternative<ListRequest>(step));
    return client_.stream(request, std::move(handler));
  }

 private:
  /// Adds a parameter. Of two selectors by labels both apply.
  static void add(RestRequest& request, std::pair<std::string, std::string> parameter) {
    const auto label_selector = std::find_if(request.query.begin(), request.query.end(),
                                             [](const auto& one) { return one.first == "labelSelector"; });
    if (parameter.first == "labelSelector" && label_selector != request.query.end())
      label_selector->second += "," + parameter.second;
    else
      request.query.push_back(std::move(parameter));
  }

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

/// Returns a selection of the objects that have an owner reference with this uid; a view.
std::function<bool(const WireObject&)> is_owned_by(std::string_view uid) {
  return [uid](const WireObject& object) {
    const auto owners = object.owners();
    return std::any_of(owners.begin(), owners.end(),
                       [uid](const WireOwner& owner) { return owner.uid == uid; });
  };
}

std::function<bool(const WireObject&)> selection(const std::string& label_selector) {
  if (label_selector.empty()) return {};
  return [selector = LabelSelector::parse(label_selector)](const WireObject& object) {
    std::map<std::string, std::string> labels;
    for (const auto& [name, value] : object.labels()) labels.emplace(name, value);
    return selector.matches(labels);
  };
}

std::shared_ptr<detail::JobRunner> runner_for(const Client& client, const CacheOptions& options) {
  if (client.event_loop()) return client.event_loop()->state()->runner();
  return std::make_shared<detail::JobRunner>(options.clock ? options.clock : client.clock(), options.threads);
}

/// Number of objects with an unknown state that a list reads one by one.
constexpr std::size_t max_single_reads = 8;

/// Makes the wire forms that the informers of one kind keep of a written object, once for each form.
class WrittenForms {
 public:
  explicit WrittenForms(std::string_view text) : text_(text) {}

  const WireObject& get(const Informer& informer) {
    KeptParts kept = informer.kept();
    if (kept.form == WireForm::compressed) kept.form = WireForm::whole;  // it is kept for a moment only
    for (const auto& [parts, object] : made_) {
      if (parts == kept) return object;
    }
    return made_.emplace_back(kept, informer.wire_of(text_)).second;
  }

 private:
  const std::string_view text_;
  std::deque<std::pair<KeptParts, WireObject>> made_;
};

/// Passes writes on to a function until it is closed.
class WriteRelay final : public detail::WriteObserver {
 public:
  using Take = std::function<void(const detail::ObservedWrite&)>;

  WriteRelay(Take take, Log log) : take_(std::move(take)), log_(std::move(log)) {}
  void on_write(const detail::ObservedWrite& write) noexcept override {
    const detail::CallGate::Pass pass(gate_);
    if (!pass) return;
    try {
      take_(write);
    } catch (const std::exception& error) {
      log_.warn("the cache cannot show a write before the watch delivers it",
                {{"call", describe(write.request)}, {"error", std::string_view(error.what())}});
    }
  }
  void close() { gate_.close(); }

 private:
  const Take take_;
  const Log log_;
  detail::CallGate gate_{detail::GateEntry::shared};
};

}  // namespace

using Informers = std::vector<std::shared_ptr<Informer>>;

class Cache::Impl final : public detail::Job {
 public:
  Impl(const Client& client, CacheOptions options)
      : options_(std::move(options)),
        runner_(runner_for(client, options_)),
        relay_(std::make_shared<WriteRelay>([this](const detail::ObservedWrite& write) { on_write(write); },
                                            options_.log)) {
    if (!options_.reflector.cell_label.empty())
      labeler_ =
          std::make_shared<detail::CellLabeler>(client, options_.reflector.cell_label, runner_, options_.log);
  }
  ~Impl() override {
    relay_->close();
    if (labeler_) labeler_->close();
    runner_->forget(*this);
  }

  /// Frees informers that nobody leases any more. Not on the thread that released them, which may be one of
  /// their own.
  void run() noexcept override;
  struct Kept {
    std::shared_ptr<Informer> informer = {};
    std::size_t leases = 0;
    bool declared = false;  // by informer(): it stays
  };
  Kept& kept(const Client& client, const ResourceId& resource, InformerOptions options)
      EVENKEEL_REQUIRES(mutex_);
  void make(const Client& client, const ResourceId& resource, InformerOptions options)
      EVENKEEL_REQUIRES(mutex_);
  std::function<void(const WireObject&)> relabels(const ResourceId& resource) const;
  bool widen(const Client& client, const std::shared_ptr<Informer>& informer, const KeptParts& wanted)
      EVENKEEL_REQUIRES(mutex_);
  std::shared_ptr<CollectionSource> source_of(const Client& client, const ResourceId& resource,
                                              const InformerOptions& options, WireForm form) const;
  std::shared_ptr<const detail::CollectionFile> copy_of(const Client& client, const ResourceId& resource,
                                                        const InformerOptions& options, WireForm form) const
      EVENKEEL_REQUIRES(mutex_);
  void add_indexes(Informer& informer) const EVENKEEL_REQUIRES(mutex_);
  void add_transform(const ResourceId& resource, std::function<void(Json&)> change);
  /// Returns the transform of a kind; empty if it has none.
  std::function<std::string(std::string_view)> transform_of(const ResourceId& resource) const
      EVENKEEL_REQUIRES(mutex_) {
    for (const auto& [of, transform] : transforms_) {
      if (same_resource(of, resource)) return transform;
    }
    return {};
  }
  void release(const Informer* informer);

  void on_write(const detail::ObservedWrite& write) const;
  void record(const detail::AnswerFact& fact, const ResourceId& resource, const Informers& informers) const;
  void record_collection(const RestRequest& request, const Informers& informers) const;
  WriteEffect dated(WriteEffect effect) const;
  /// Reads the few objects of a namespace (of all if it is empty) with an unknown state; returns false if it
  /// does not, because there is no client or they are many.
  bool know_all(Informer& informer, const std::string& namespace_, const Client* live) const {
    std::optional<std::string_view> only;
    if (!namespace_.empty()) only = namespace_;
    const auto unknown = informer.store().unknown(only);
    if (unknown.empty()) return true;
    if (live == nullptr || unknown.size() > max_single_reads) return false;
    read_unknown(informer, unknown, *live);
    return true;
  }
  void observe_find(const ResourceId& resource, const std::string& scope, const std::string& name) const {
    if (options_.reads != nullptr) options_.reads->on_find(resource, {scope, name});
  }
  void observe_list(const ResourceId& resource, const std::string& scope) const {
    if (options_.reads != nullptr) options_.reads->on_list(resource, scope);
  }
  /// Counts a read of which only the server knows the answer.
  std::nullopt_t give_up() const {
    live_reads_.fetch_add(1, std::memory_order_relaxed);
    return std::nullopt;
  }
  void read_unknown(Informer& informer, const std::vector<ObjectKey>& unknown, const Client& live) const;

  const CacheOptions options_;
  const std::shared_ptr<detail::JobRunner> runner_;
  detail::DiskCopies disk_{options_.disk, runner_->shared_clock(), options_.log};
  const std::shared_ptr<detail::ServerLog> server_log_ = std::make_shared<detail::ServerLog>();
  const std::shared_ptr<detail::StreamingMemory> streaming_ = std::make_shared<detail::StreamingMemory>();
  detail::DecodedObjects decoded_{options_.max_decoded_bytes};
  mutable Mutex mutex_;
  std::vector<Kept> informers_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Informer>> released_ EVENKEEL_GUARDED_BY(mutex_);  // to be freed by run()
  bool started_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::optional<HashRanges> share_ EVENKEEL_GUARDED_BY(mutex_);  // set by select()
  std::vector<std::pair<ResourceId, IndexDefinition>> indexes_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::pair<ResourceId, std::function<std::string(std::string_view)>>> transforms_
      EVENKEEL_GUARDED_BY(mutex_);
  mutable std::set<std::string> logged_ EVENKEEL_GUARDED_BY(mutex_);  // plural.group of live reads
  mutable std::atomic<std::uint64_t> live_reads_ = 0;
  std::stop_source stopping_;
  std::shared_ptr<detail::CellLabeler> labeler_;  // null without ReflectorOptions::cell_label
  const std::shared_ptr<WriteRelay> relay_;       // last, so that nothing is gone before it is closed

  /// Returns the informers of a kind, of any version of it.
  Informers informers_of(const ResourceId& resource) const {
    MutexLock lock(mutex_);
    Informers result;
    for (const Kept& kept : informers_) {
      const ResourceId& id = kept.informer->resource();
      if (id.plural == resource.plural && id.group == resource.group) result.push_back(kept.informer);
    }
    return result;
  }

  Informers all() const {
    MutexLock lock(mutex_);
    Informers result;
    for (const Kept& kept : informers_) result.push_back(kept.informer);
    return result;
  }

  /// Returns a synced informer that holds these parts of every object of this namespace (of all namespaces if
  /// it is empty).
  std::shared_ptr<Informer> serving(const detail::PartsRead& read, const std::string& namespace_) const {
    MutexLock lock(mutex_);
    for (const auto& [informer, leases, declared] : informers_) {
      const InformerOptions& options = informer->options();
      if (!same_resource(informer->resource(), read.resource) || !informer->kept().serve(read.parts))
        continue;
      if (!options.label_selector.empty() || !options.field_selector.empty()) continue;
      if (!options.namespace_.empty() && options.namespace_ != namespace_) continue;
      if (informer->synced() && informer->holds(namespace_)) return informer;
    }
    return nullptr;
  }

  /// Returns true if an informer of which the store was read still holds this namespace. Otherwise its share
  /// was narrowed meanwhile, and what was not found may exist: the server has to be asked.
  bool still_holds(const Informer& informer, const std::string& namespace_) const {
    if (informer.holds(namespace_)) return true;
    note_live_read(informer.resource());
    return false;
  }

  /// Returns true if this informer keeps what the index needs.
  static bool is_indexed(const Informer& informer, const ResourceId& resource, const IndexDefinition& index) {
    return same_resource(informer.resource(), resource) &&
           informer.kept().serve({.form = index.form, .projection = index.projection});
  }

  /// Returns true if the index is declared with the same function. Throws std::invalid_argument if it is
  /// declared with another one.
  bool is_declared(const ResourceId& resource, const IndexDefinition& index) const {
    MutexLock lock(mutex_);
    for (const auto& [of, known] : indexes_) {
      if (!same_resource(of, resource) || known.name != index.name) continue;
      if (known.function->is_same(*index.function)) return true;
      throw std::invalid_argument(resource.kind + ": there is an index \"" + index.name +
                                  "\" with another function");
    }
    return false;
  }

  void add_index(const ResourceId& resource, const IndexDefinition& index) const {
    for (const auto& informer : all()) {
      if (is_indexed(*informer, resource, index)) informer->add_index(index);
    }
  }

  /// Throws std::invalid_argument if this index of the kind is not declared.
  void require_index(const ResourceId& resource, const std::string& name) const {
    std::string known;
    MutexLock lock(mutex_);
    for (const auto& [of, index] : indexes_) {
      if (!same_resource(of, resource)) continue;
      if (index.name == name) return;
      known.append(known.empty() ? "" : ", ").append("\"").append(index.name).append("\"");
    }
    throw std::invalid_argument(resource.kind + ": there is no index \"" + name +
                                "\"; indexes: " + (known.empty() ? "none" : known));
  }

  /// Returns the reason why no informer can serve reads of this kind.
  const char* why_not_cached(const ResourceId& resource) const {
    bool declared = false;
    bool synced = false;
    for (const auto& informer : all()) {
      if (!same_resource(informer->resource(), resource)) continue;
      declared = true;
      synced = synced || informer->synced();
    }
    if (synced)
      return "the cache holds only a part of these objects: metadata, a projection, a selection, or other "
             "namespaces";
    return declared ? "its informers are not synced yet" : "no informer of the kind is declared";
  }

  /// Throws NotCached for a read by index that no informer can serve.
  [[noreturn]] void refuse_index_read(const ResourceId& resource, const std::string& index,
                                      const std::string& scope) const {
    throw NotCached(resource.kind + ": cannot read the index \"" + index + "\"" +
                    (scope.empty() ? std::string(" of all namespaces") : " of namespace " + scope) + ": " +
                    why_not_cached(resource));
  }

  /// Counts a read that no informer can serve. Throws NotCached if such reads are refused.
  void note_live_read(const ResourceId& resource) const {
    if (!options_.live_reads) {
      throw NotCached(resource.kind + ": the cache cannot answer, and CacheOptions::live_reads is false: " +
                      why_not_cached(resource));
    }
    count_live_read(resource);
  }

  void count_live_read(const ResourceId& resource) const {
    live_reads_.fetch_add(1, std::memory_order_relaxed);
    const std::string name = resource.qualified_plural();
    MutexLock lock(mutex_);
    const bool first = logged_.insert(name).second;
    lock.unlock();
    if (first)
      options_.log.info("reading from the server because the cache cannot answer", {{"resource", name}});
  }
};

Cache::Cache(Client client, CacheOptions options)
    : client_(std::move(client)), impl_(std::make_shared<Impl>(client_, std::move(options))) {
  client_.write_observers()->add(impl_->relay_);
}

Cache::~Cache() {
  impl_->relay_->close();
  stop();
}

void Cache::observe(const Client& client) {
  if (client.write_observers() != client_.write_observers()) client.write_observers()->add(impl_->relay_);
}

void Cache::Impl::on_write(const detail::ObservedWrite& write) const {
  const RestRequest* request = &write.request;
  RestRequest parsed;
  if (!request->path.empty()) {
    parsed = detail::addressed(*request);
    request = &parsed;
  }
  const auto informers = informers_of(request->resource);
  if (informers.empty()) return;
  if (request->resource.kind.empty()) {
    if (request != &parsed) parsed = *request;
    parsed.resource.kind = informers.front()->resource().kind;
    request = &parsed;
  }
  const detail::WriteAnswer answer = detail::read_answer({*request, write.status, write.body});
  for (const detail::AnswerFact& fact : answer.facts) record(fact, request->resource, informers);
  if (answer.of_collection) record_collection(*request, informers);
}

/// Returns the effect with the time of its end.
WriteEffect Cache::Impl::dated(WriteEffect effect) const {
  const bool known = effect.kind == WriteEffect::Kind::written || effect.kind == WriteEffect::Kind::removed;
  effect.until = deadline_after(runner_->clock().now(),
                                known ? options_.own_write_timeout : options_.unknown_state_timeout);
  return effect;
}

void Cache::Impl::record(const detail::AnswerFact& fact, const ResourceId& resource,
                         const Informers& informers) const {
  WrittenForms forms(fact.text);
  for (const auto& informer : informers) {
    const InformerOptions& options = informer->options();
    if (!options.namespace_.empty() && options.namespace_ != fact.effect.namespace_) continue;
    WriteEffect effect = fact.effect;
    if (effect.kind == WriteEffect::Kind::written) {
      const WireObject& object = forms.get(*informer);
      if (informer->resource().version == resource.version) {
        effect.object = object;
      } else {  // the same object looks different in another version of its kind
        effect.kind = WriteEffect::Kind::changed;
        effect.version = object.resource_version();
      }
    }
    informer->record(dated(std::move(effect)));
  }
}

/// Records that every object which the deletion of a collection selects may be ending.
void Cache::Impl::record_collection(const RestRequest& request, const Informers& informers) const {
  std::string label_selector;
  for (const auto& [name, value] : request.query) {
    if (name == "labelSelector") label_selector = value;
  }
  std::optional<std::string_view> only;
  if (!request.namespace_.empty()) only = request.namespace_;
  for (const auto& informer : informers) {
    for (const WireObject& object : informer->store().list(only, selection(label_selector)))
      informer->record(dated({.kind = WriteEffect::Kind::ending,
                              .namespace_ = std::string(object.namespace_()),
                              .name = std::string(object.name()),
                              .uid = std::string(object.uid())}));
  }
}

/// Reads the objects with an unknown state from the server, so that the store of the informer shows them.
void Cache::Impl::read_unknown(Informer& informer, const std::vector<ObjectKey>& unknown,
                               const Client& live) const {
  const ResourceId& resource = informer.resource();
  for (const ObjectKey& key : unknown) {
    live_reads_.fetch_add(1, std::memory_order_relaxed);
    const WireObject shown = informer.store().find(key.namespace_, key.name);
    const auto found = live.run(calls::find(resource, key));
    WriteEffect effect{.namespace_ = key.namespace_, .name = key.name};
    if (found) {
      effect.object = informer.wire_of(found.raw());
    } else if (shown) {
      effect.kind = WriteEffect::Kind::removed;
      effect.uid = shown.uid();
    } else {
      continue;
    }
    informer.record(dated(std::move(effect)));
  }
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
  return std::make_shared<ClientSource>(client.with({.stop = stopping_.get_token()}), resource, options,
                                        form);
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
    if (!same_resource(one.informer->resource(), resource) || !same_collection(known, options)) continue;
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
    if (same_resource(one.informer->resource(), resource))
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
  auto objects = informer->store().list(only, selection(options.label_selector));
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
