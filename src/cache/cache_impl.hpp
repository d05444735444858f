// SPDX-License-Identifier: Apache-2.0
// The state of a cache, and the questions that its members ask.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <evenkeel/api/selector.hpp>
#include <evenkeel/base/hash_ranges.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/cache/write_effect.hpp>
#include <evenkeel/http/job_runner.hpp>

#include "cache/cell_labeler.hpp"
#include "cache/disk_copies.hpp"
#include "cache/read_observer.hpp"
#include "cache/server_log.hpp"
#include "cache/streaming_memory.hpp"
#include "cache/write_answer.hpp"
#include "cache/write_relay.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

inline bool same_resource(const ResourceId& left, const ResourceId& right) {
  return left.plural == right.plural && left.group == right.group && left.version == right.version;
}

/// Returns a selection of objects by their labels; empty if it selects all.
inline std::function<bool(const WireObject&)> selection(const std::string& label_selector) {
  if (label_selector.empty()) return {};
  return [selector = LabelSelector::parse(label_selector)](const WireObject& object) {
    std::map<std::string, std::string> labels;
    for (const auto& [name, value] : object.labels()) labels.emplace(name, value);
    return selector.matches(labels);
  };
}

/// Kind, in any version, and namespace of a collection; all namespaces if that is empty.
struct CollectionKey {
  std::string group = {};
  std::string plural = {};
  std::string namespace_ = {};
};
using CollectionView = std::tuple<std::string_view, std::string_view, std::string_view>;

struct CollectionLess {
  using is_transparent = void;
  static CollectionView view(const CollectionKey& key) { return {key.group, key.plural, key.namespace_}; }
  static CollectionView view(const CollectionView& key) { return key; }
  template <class Left, class Right>
  bool operator()(const Left& left, const Right& right) const {
    return view(left) < view(right);
  }
};

}  // namespace detail

/// State of a cache, shared with the leases of its informers.
class Cache::Impl final : public detail::Job {
 public:
  using Informers = std::vector<std::shared_ptr<Informer>>;

  Impl(const Client& client, CacheOptions options);
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
      if (detail::same_resource(of, resource)) return transform;
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
  /// Number of objects with an unknown state that a list reads one by one.
  static constexpr std::size_t max_single_reads = 8;
  void read_unknown(Informer& informer, const std::vector<ObjectKey>& unknown, const Client& live) const;

  const CacheOptions options_;
  const std::shared_ptr<detail::JobRunner> runner_;
  detail::DiskCopies disk_{options_.disk, runner_->shared_clock(), options_.log};
  const std::shared_ptr<detail::ServerLog> server_log_ = std::make_shared<detail::ServerLog>();
  const std::shared_ptr<detail::StreamingMemory> streaming_ = std::make_shared<detail::StreamingMemory>();
  detail::DecodedObjects decoded_{options_.max_decoded_bytes};
  mutable Mutex mutex_;
  std::vector<Kept> informers_ EVENKEEL_GUARDED_BY(mutex_);
  // Index of informers_, so that a read does not cost more with informers of other kinds and namespaces.
  std::map<detail::CollectionKey, Informers, detail::CollectionLess> by_collection_
      EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Informer>> released_ EVENKEEL_GUARDED_BY(mutex_);  // to be freed by run()
  bool started_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::optional<HashRanges> share_ EVENKEEL_GUARDED_BY(mutex_);  // set by select()
  std::vector<std::pair<ResourceId, IndexDefinition>> indexes_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<std::pair<ResourceId, std::function<std::string(std::string_view)>>> transforms_
      EVENKEEL_GUARDED_BY(mutex_);
  mutable std::set<std::string> logged_ EVENKEEL_GUARDED_BY(mutex_);  // plural.group of live reads
  mutable std::atomic<std::uint64_t> live_reads_ = 0;
  std::stop_source stopping_;
  std::shared_ptr<detail::CellLabeler> labeler_;     // null without ReflectorOptions::cell_label
  const std::shared_ptr<detail::WriteRelay> relay_;  // last, so that nothing is gone before it is closed

  /// Returns the informers of a kind, of any version of it.
  Informers informers_of(const ResourceId& resource) const {
    MutexLock lock(mutex_);
    Informers result;
    for (auto at = by_collection_.lower_bound(detail::CollectionView{resource.group, resource.plural, {}});
         at != by_collection_.end() && at->first.group == resource.group &&
         at->first.plural == resource.plural;
         ++at)
      result.insert(result.end(), at->second.begin(), at->second.end());
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
    if (!namespace_.empty()) {
      if (auto informer = serving_of(namespace_, read, namespace_)) return informer;
    }
    return serving_of({}, read, namespace_);
  }
  /// Likewise, among the informers of a namespace, or of all if `of` is empty.
  std::shared_ptr<Informer> serving_of(std::string_view of, const detail::PartsRead& read,
                                       const std::string& namespace_) const EVENKEEL_REQUIRES(mutex_) {
    const ResourceId& resource = read.resource;
    const auto found = by_collection_.find(detail::CollectionView{resource.group, resource.plural, of});
    if (found == by_collection_.end()) return nullptr;
    for (const auto& informer : found->second) {
      const InformerOptions& options = informer->options();
      if (!detail::same_resource(informer->resource(), resource) || !informer->kept().serve(read.parts))
        continue;
      if (!options.label_selector.empty() || !options.field_selector.empty()) continue;
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
    return detail::same_resource(informer.resource(), resource) &&
           informer.kept().serve({.form = index.form, .projection = index.projection});
  }

  /// Returns true if the index is declared with the same function. Throws std::invalid_argument if it is
  /// declared with another one.
  bool is_declared(const ResourceId& resource, const IndexDefinition& index) const {
    MutexLock lock(mutex_);
    for (const auto& [of, known] : indexes_) {
      if (!detail::same_resource(of, resource) || known.name != index.name) continue;
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
      if (!detail::same_resource(of, resource)) continue;
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
      if (!detail::same_resource(informer->resource(), resource)) continue;
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

}  // namespace v0
}  // namespace evenkeel
