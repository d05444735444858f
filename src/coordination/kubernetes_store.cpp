// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/coordination/kubernetes_store.hpp>

#include "client/request/bound_limits.hpp"
#include "coordination/kubernetes_names.hpp"
#include "coordination/kubernetes_objects.hpp"
#include "coordination/kubernetes_shard.hpp"
#include "coordination/kubernetes_watch.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

using detail::CommitFate;
using detail::Entries;
using detail::KubernetesShard;
using Object = detail::KubernetesObject;
using ObjectPtr = std::shared_ptr<const Object>;

constexpr int most_tries = 50;
constexpr Duration first_pause = std::chrono::milliseconds{2};

std::string new_mark() {
  std::random_device device;
  std::string mark;
  for (int word = 0; word < 2; ++word) {
    std::uint32_t bits = device();
    for (int digit = 0; digit < 8; ++digit, bits >>= 4U) mark += "0123456789abcdef"[bits & 15U];
  }
  return mark;
}

/// An in-memory snapshot of all objects.
class KubernetesSnapshot final : public StoreSnapshot {
 public:
  KubernetesSnapshot(Version version, std::shared_ptr<const Entries> entries)
      : version_(version), shared_(std::move(entries)) {}

  Version version() const override { return version_; }
  std::optional<Entry> get(std::string_view key) override {
    const auto found = entries().find(key);
    return found == entries().end() ? std::nullopt : std::optional(found->second);
  }
  ScanPage scan(const KeyRange& range, std::size_t limit) override {
    ScanPage page;
    for (auto entry = entries().lower_bound(range.begin);
         entry != entries().end() && range.contains(entry->first); ++entry) {
      if (limit != 0 && page.entries.size() == limit) {
        page.next = entry->first;
        break;
      }
      page.entries.push_back(entry->second);
    }
    return page;
  }

 private:
  const Entries& entries() const { return *shared_; }

  const Version version_;
  const std::shared_ptr<const Entries> shared_;
};

}  // namespace

class KubernetesStore::Impl {
 public:
  Impl(Client client, KubernetesStoreOptions options)
      : client_(evenkeel::detail::unbounded(client)),
        options_(std::move(options)),
        names_(options_),
        objects_(options_) {
    detail::check_options(options_);
  }

  const KubernetesStoreOptions& options() const { return options_; }
  const detail::KubernetesNames& names() const { return names_; }
  const Client& client() const { return client_; }
  bool is_one() const { return options_.objects == KubernetesObjects::one; }
  std::string selector() const { return objects_.selector(); }

  /// Returns a client whose calls end with `stop`, and share one timeout.
  Client bound(const std::stop_token& stop) const {
    return client_.with({.stop = stop, .deadline = deadline_after(client_.clock()->now(), options_.timeout)});
  }

  ObjectPtr find(const Client& client, const std::string& name) const {
    return std::make_shared<const Object>(objects_.find(client, name));
  }

  /// Returns a consistent list of all objects.
  detail::KubernetesObjectSet list(const Client& client) {
    if (is_one()) return {{options_.name, find(client, options_.name)}};
    return objects_.list(client);
  }

  std::unique_ptr<StoreSnapshot> snapshot(const std::stop_token& stop) {
    if (stop.stop_requested()) throw Cancelled("stopped");
    try {
      Version version = 0;
      auto entries = std::make_shared<Entries>();
      auto objects = list(bound(stop));
      for (const auto& [name, object] : objects) {
        version += object->shard.version;
        entries->insert(object->shard.entries.begin(), object->shard.entries.end());
      }
      if (!is_one()) snapshots_.keep(version, std::move(objects));
      return std::make_unique<KubernetesSnapshot>(version, std::move(entries));
    } catch (const Cancelled&) {
      throw;
    } catch (const StoreUnavailable&) {
      throw;
    } catch (const Error& error) {
      throw StoreUnavailable(error.what());
    }
  }

  /// Returns the begin of the first range of `commit` that has changed: exactly, if one object holds
  /// everything (`target`); otherwise as of `objects`, which were read immediately before.
  std::optional<std::string> range_conflict(const Commit& commit, const KubernetesShard& target,
                                            const detail::KubernetesObjectSet& objects) {
    if (is_one()) return detail::range_conflict(target, commit.read_ranges, commit.read_version);
    return snapshots_.range_conflict(commit.read_ranges, commit.read_version, objects);
  }

  /// Writes the object: creates it, or replaces it if it has not changed.
  void write(const Client& client, const Object& object, const std::string& name,
             const std::map<std::string, std::string>& data) const {
    ConfigMap map{.metadata = object.metadata, .data = data};
    map.metadata.name = name;
    map.metadata.namespace_ = options_.namespace_;
    map.metadata.labels[detail::coordination_label] = options_.name;
    client.raw({.method = object.exists() ? http::Method::put : http::Method::post,
                .resource = ConfigMap::resource,
                .namespace_ = options_.namespace_,
                .name = object.exists() ? name : "",
                .content_type = "application/json",
                .body = to_json(map)});
  }

  class Run;

 private:
  const Client client_;
  const KubernetesStoreOptions options_;
  const detail::KubernetesNames names_;
  detail::KubernetesObjectReader objects_;
  detail::KubernetesSnapshots snapshots_;
};

/// One commit, retried until its outcome is known.
class KubernetesStore::Impl::Run {
 public:
  Run(Impl& impl, const Commit& commit, std::string name, const std::stop_token& stop)
      : impl_(impl), commit_(commit), name_(std::move(name)), client_(impl.bound(stop)) {}

  CommitResult run() {
    for (; tries_ < most_tries; ++tries_) {
      if (auto end = attempt()) return *std::move(end);
    }
    return undecided("too many concurrent writes of " + name_);
  }

 private:
  using End = std::optional<CommitResult>;

  /// Returns nullopt if the commit must be retried.
  End attempt() {
    ObjectPtr target;
    try {
      if (tries_ > 1) client_.pause(first_pause * (1 << std::min(tries_, 6)), 0.5);
      target = read();
    } catch (const Error& error) {
      return undecided(error.what());
    }
    if (auto known = find_lost(target->shard)) return known;
    if (auto key = detail::read_conflict(entries_, commit_.reads)) return conflict(*std::move(key));
    if (auto range = impl_.range_conflict(commit_, target->shard, objects_))
      return conflict(*std::move(range));
    if (name_.empty()) return Committed{version_};
    return write(*target);
  }

  /// Returns the object that is written; sets entries_ to what the conditions are compared with.
  ObjectPtr read() {
    const auto is_there = [this](const Commit::ReadKey& one) {
      return impl_.names().object_of(one.key) == name_;
    };
    ObjectPtr target = std::make_shared<const Object>();
    entries_.clear();
    version_ = 0;
    const bool looks_elsewhere = !impl_.is_one() && !commit_.read_ranges.empty();
    if (std::ranges::all_of(commit_.reads, is_there) && !looks_elsewhere && !name_.empty()) {
      target = impl_.find(client_, name_);
      entries_ = target->shard.entries;
      return target;
    }
    objects_ = impl_.list(client_);
    for (const auto& [name, object] : objects_) {
      entries_.insert(object->shard.entries.begin(), object->shard.entries.end());
      version_ += object->shard.version;
      if (name == name_ || impl_.is_one()) target = object;
    }
    return target;
  }

  End find_lost(const KubernetesShard& shard) {
    if (!lost_) return std::nullopt;
    Version version = 0;
    switch (detail::fate_of(shard, *lost_, mark_, version)) {
      case CommitFate::applied:
        return Committed{version};
      case CommitFate::refused:
        lost_.reset();
        return std::nullopt;
      case CommitFate::open:
        return std::nullopt;  // sent again, as the same change of the same version
      case CommitFate::unknown:
        break;
    }
    return undecided(name_ + " no longer has a record of the commit");
  }

  End write(const Object& target) {
    const auto now =
        std::chrono::duration_cast<std::chrono::seconds>(client_.clock()->wall_now().time_since_epoch());
    const Version least = target.shard.version != 0 ? 0 : static_cast<Version>(now.count()) << 20U;
    KubernetesShard shard = detail::applied(target.shard, commit_, mark_, least);
    if (!impl_.is_one()) shard.erasures.clear();  // conflicts are detected by comparing snapshots
    const auto data = detail::encode_shard(shard);
    const std::size_t bytes = detail::data_bytes(data);
    const std::size_t most = impl_.options().max_object_bytes;
    if (bytes > most) return TooLarge{"object_bytes", most, bytes};
    try {
      impl_.write(client_.with({.timeout = impl_.options().timeout / 3}), target, name_, data);
      return Committed{shard.version};
    } catch (const ApiError& error) {
      return refused(error, target, bytes);
    } catch (const TransportError& error) {
      return cut(error, target);
    } catch (const Cancelled&) {
      return Unknown{"stopped while it was sent"};
    }
  }

  End refused(const ApiError& error, const Object& target, std::size_t bytes) {
    if (error.code() == 409 || (error.is_not_found() && target.exists())) return std::nullopt;
    if (error.code() == 413) return TooLarge{"object_bytes", impl_.options().max_object_bytes, bytes};
    if (!error.is_server_error()) return undecided(error.what());
    lost_ = target.shard.version;
    return std::nullopt;
  }

  End cut(const TransportError& error, const Object& target) {
    const TransportErrorCode code = error.code();
    const bool sent = code != TransportErrorCode::resolve && code != TransportErrorCode::connect &&
                      code != TransportErrorCode::tls;
    if (!sent) return undecided(error.what());
    lost_ = target.shard.version;
    return std::nullopt;
  }

  // A Conflict means that nothing was applied, which is not known of a commit whose answer was lost.
  CommitResult conflict(std::string what) const {
    if (lost_) return Unknown{"the answer to it was lost; meanwhile there is a conflict with " + what};
    return Conflict{std::move(what)};
  }

  CommitResult undecided(const std::string& why) const {
    if (lost_) return Unknown{why};
    return Unavailable{why};
  }

  Impl& impl_;
  const Commit& commit_;
  const std::string name_;
  const Client client_;
  const std::string mark_ = new_mark();
  detail::KubernetesObjectSet objects_;  // if all were read
  Entries entries_;
  Version version_ = 0;          // of all objects together, if all were read
  std::optional<Version> lost_;  // the version that precedes a commit whose answer was lost
  int tries_ = 0;
};

KubernetesStore::KubernetesStore(Client client, KubernetesStoreOptions options)
    : impl_(std::make_unique<Impl>(std::move(client), std::move(options))) {}

KubernetesStore::~KubernetesStore() = default;

std::string KubernetesStore::name() const {
  const KubernetesStoreOptions& options = impl_->options();
  return "kubernetes " + impl_->client().config().server + " " + options.namespace_ + "/" + options.name;
}

Capabilities KubernetesStore::capabilities() const {
  const bool one = impl_->is_one();
  return {.multi_key_atomic = one, .range_conflict = one, .snapshot_scan = one};
}

Limits KubernetesStore::limits() const {
  return {.commit_bytes = impl_->options().max_object_bytes};
}

std::unique_ptr<StoreSnapshot> KubernetesStore::snapshot(std::stop_token stop) {
  return impl_->snapshot(stop);
}

CommitResult KubernetesStore::commit(const Commit& commit, std::stop_token stop) {
  const Commit normal = normalise(commit);
  std::string name = impl_->names().object_of(normal);
  if (auto broken = broken_limit(limits(), normal)) return *std::move(broken);
  if (stop.stop_requested()) return Unavailable{"stopped"};
  return Impl::Run(*impl_, normal, std::move(name), stop).run();
}

std::unique_ptr<StoreWatch> KubernetesStore::watch(const KeyRange&, std::function<void()> hint) {
  return std::make_unique<detail::KubernetesWatch>(impl_->client(), impl_->options().namespace_,
                                                   impl_->selector(), impl_->options().watch_retry,
                                                   std::move(hint));
}

std::string KubernetesStore::object_of(std::string_view key) const {
  return impl_->names().object_of(key);
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
