// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/clusters/cluster_set.hpp>

#include "base/caught.hpp"
#include "clusters/blocking_pool.hpp"
#include "clusters/cluster_loop.hpp"
#include "clusters/cluster_member.hpp"
#include "clusters/membership_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::ClusterLoop;
using detail::ClusterMember;
using detail::MembershipCore;

constexpr const char* own_provider = "program";  // name of engage() and disengage() among providers

ClusterSetOptions checked_set_options(ClusterSetOptions options) {
  const auto require = [](bool sound, const char* name) {
    if (!sound)
      throw std::invalid_argument(std::string("ClusterSetOptions: ") + name + " must be at least 1");
  };
  require(options.threads > 0, "threads");
  require(options.blocking_threads > 0, "blocking_threads");
  require(options.failures_until_away > 0, "failures_until_away");
  require(options.max_bytes > 0, "max_bytes");
  if (options.first_probe <= Duration::zero())
    throw std::invalid_argument("ClusterSetOptions: first_probe must be greater than 0");
  if (options.longest_probe < options.first_probe)
    throw std::invalid_argument("ClusterSetOptions: longest_probe must be at least first_probe");
  return options;
}

}  // namespace

std::string_view cluster_state_name(ClusterState state) noexcept {
  switch (state) {
    case ClusterState::engaged:
      return "engaged";
    case ClusterState::away:
      return "away";
    case ClusterState::leaving:
      return "leaving";
    case ClusterState::failed:
      break;
  }
  return "failed";
}

/// Does the steps of the core, each on the thread of its cluster.
class ClusterSet::Impl {
 public:
  explicit Impl(ClusterSetOptions options) : options_(checked_set_options(std::move(options))) {}
  ~Impl();

  void offer(const std::string& provider, ClusterDescription description) EVENKEEL_EXCLUDES(mutex_);
  void withdraw(const std::string& provider, std::string_view name) EVENKEEL_EXCLUDES(mutex_);
  void start() EVENKEEL_EXCLUDES(mutex_);
  void stop(std::function<void()> done) EVENKEEL_EXCLUDES(mutex_);
  void add_follower(ClusterFollower& follower) EVENKEEL_EXCLUDES(mutex_, calling_);
  void remove_follower(ClusterFollower& follower) EVENKEEL_EXCLUDES(mutex_, calling_);
  std::shared_ptr<ClusterMember> find(std::string_view name) const EVENKEEL_EXCLUDES(mutex_);
  std::vector<std::shared_ptr<ClusterMember>> members() const EVENKEEL_EXCLUDES(mutex_);

 private:
  /// Does what the core decides after a change of the cluster `name`, or of all.
  void advance(MutexLock& lock,
               std::string_view name = {}) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;  // with the lock held
  void perform(const MembershipCore::Step& step) EVENKEEL_REQUIRES(mutex_);
  ClusterLoop& loop_for() EVENKEEL_REQUIRES(mutex_);
  std::shared_ptr<ClusterMember> make_member(ClusterDescription description) EVENKEEL_REQUIRES(mutex_);
  void engage(const std::shared_ptr<ClusterMember>& member) EVENKEEL_EXCLUDES(mutex_, calling_);
  void leave(const std::shared_ptr<ClusterMember>& member) EVENKEEL_EXCLUDES(mutex_, calling_);
  void retire(const std::shared_ptr<ClusterMember>& member) EVENKEEL_EXCLUDES(mutex_);
  void returned(const std::string& name) EVENKEEL_EXCLUDES(mutex_, calling_);
  void drained(const std::string& name) EVENKEEL_EXCLUDES(mutex_);
  void overflowed(const std::string& name) EVENKEEL_EXCLUDES(mutex_);

 public:
  const ClusterSetOptions options_;

 private:
  detail::BlockingPool pool_{options_.blocking_threads, options_.on_thread_start};
  /// Held while followers are called, so that a removed one is not. Taken before the other mutex.
  Mutex calling_;
  std::vector<ClusterFollower*> followers_ EVENKEEL_GUARDED_BY(calling_);
  mutable Mutex mutex_;
  CondVar changed_;
  MembershipCore core_ EVENKEEL_GUARDED_BY(mutex_);
  bool started_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::function<void()> done_ EVENKEEL_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<ClusterMember>, std::less<>> members_ EVENKEEL_GUARDED_BY(mutex_);
  std::size_t last_loop_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<ClusterLoop>> loops_ EVENKEEL_GUARDED_BY(mutex_);
};

// The loops end last: members free what they have on them.
ClusterSet::Impl::~Impl() {
  stop({});
  std::vector<std::shared_ptr<ClusterLoop>> loops;
  {
    MutexLock lock(mutex_);
    while (!core_.is_empty()) changed_.wait(lock);
    loops.swap(loops_);
  }
}

void ClusterSet::Impl::offer(const std::string& provider, ClusterDescription description) {
  check_cluster_name(description.name);
  const std::string name = description.name;
  bool first = true;
  {
    MutexLock lock(mutex_);
    first = core_.on_offered(provider, std::move(description));
    advance(lock);
  }
  if (!first)
    options_.log.error("two providers offer a cluster of the same name; the first one counts",
                       {{"cluster", name}, {"provider", provider}});
}

void ClusterSet::Impl::withdraw(const std::string& provider, std::string_view name) {
  MutexLock lock(mutex_);
  core_.on_withdrawn(provider, name);
  advance(lock, name);
}

void ClusterSet::Impl::start() {
  MutexLock lock(mutex_);
  started_ = true;
  advance(lock);
}

// Stop callbacks of reconciles may call the set, so that no lock is held meanwhile. `done` is known last: it
// may end the set.
void ClusterSet::Impl::stop(std::function<void()> done) {
  {
    MutexLock lock(mutex_);
    core_.stop();
  }
  for (const auto& member : members()) member->cancel();
  MutexLock lock(mutex_);
  if (done) done_ = std::move(done);
  advance(lock);
}

std::shared_ptr<ClusterMember> ClusterSet::Impl::find(std::string_view name) const {
  MutexLock lock(mutex_);
  const auto found = members_.find(name);
  return found == members_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<ClusterMember>> ClusterSet::Impl::members() const {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<ClusterMember>> all;
  for (const auto& [name, member] : members_) all.push_back(member);
  return all;
}

// A cluster that failed to be engaged has a member, which shows why, until it is withdrawn.
void ClusterSet::Impl::advance(MutexLock& lock, std::string_view name) {
  if (!started_ && !core_.is_stopping()) return;
  while (const auto step = core_.next_step()) perform(*step);
  if (const auto gone = members_.find(name);
      gone != members_.end() && core_.phase(name) == MembershipCore::Phase::absent)
    members_.erase(gone);
  if (!core_.is_stopping() || !core_.is_empty()) return;
  const auto done = std::exchange(done_, nullptr);
  changed_.notify_all();
  lock.unlock();
  if (done) done();
  lock.lock();
}

void ClusterSet::Impl::perform(const MembershipCore::Step& step) {
  if (step.kind == MembershipCore::StepKind::engage) {
    const auto member = make_member(step.description);
    members_[step.name] = member;
    return member->loop().post([this, member] { engage(member); });
  }
  const auto& member = members_.at(step.name);
  if (step.kind == MembershipCore::StepKind::leave)
    return member->loop().post([this, member] { leave(member); });
  member->loop().post([this, member] { retire(member); });
}

std::shared_ptr<ClusterMember> ClusterSet::Impl::make_member(ClusterDescription description) {
  const std::string name = description.name;
  ClusterLoop& loop = loop_for();
  return std::make_shared<ClusterMember>(
      std::move(description), loop, options_,
      ClusterMember::Calls{
          .on_drained = [this, name] { drained(name); },
          .on_returned = [this, name, &loop] { loop.post([this, name] { returned(name); }); },
          .on_overflow = [this, name, &loop] { loop.post([this, name] { overflowed(name); }); }});
}

// Clusters are dealt out to the threads one after the other.
ClusterLoop& ClusterSet::Impl::loop_for() {
  if (loops_.size() < options_.threads) {
    loops_.push_back(std::make_shared<ClusterLoop>("clusters/" + std::to_string(loops_.size()), pool_,
                                                   options_.on_thread_start));
    return *loops_.back();
  }
  return *loops_[last_loop_++ % loops_.size()];
}

void ClusterSet::Impl::engage(const std::shared_ptr<ClusterMember>& member) {
  std::exception_ptr error;
  try {
    const auto cluster = member->make();
    MutexLock calling(calling_);
    for (ClusterFollower* follower : followers_) follower->on_engaged(cluster);
    member->start();
    options_.log.info("a cluster was engaged",
                      {{"cluster", member->name()}, {"server", cluster->client().config().server}});
    return;
  } catch (...) {
    error = std::current_exception();
  }
  if (const auto& cluster = member->made()) {
    MutexLock calling(calling_);
    for (ClusterFollower* follower : followers_) follower->on_leaving(*cluster);
  }
  member->fail("a cluster cannot be engaged", detail::error_text(error));
  member->retire([] {});
  MutexLock lock(mutex_);
  core_.on_failed(member->name());
  advance(lock);
}

void ClusterSet::Impl::leave(const std::shared_ptr<ClusterMember>& member) {
  member->close();
  if (const auto& cluster = member->made()) {
    MutexLock calling(calling_);
    for (ClusterFollower* follower : followers_) follower->on_leaving(*cluster);
  }
  member->drain(options_.drain_timeout);
  options_.log.info("a cluster leaves", {{"cluster", member->name()}});
}

// One of the member's own jobs may call the function, so that a later task drops the last handle.
void ClusterSet::Impl::retire(const std::shared_ptr<ClusterMember>& member) {
  member->retire([this, member] {
    member->loop().post([member] {});
    {
      MutexLock lock(mutex_);
      core_.on_retired(member->name());
      advance(lock, member->name());
    }
    options_.log.info("a cluster has left", {{"cluster", member->name()}});
  });
}

void ClusterSet::Impl::drained(const std::string& name) {
  MutexLock lock(mutex_);
  core_.on_drained(name);
  advance(lock);
}

void ClusterSet::Impl::overflowed(const std::string& name) {
  const auto member = find(name);
  if (!member || !member->overflow()) return;
  MutexLock lock(mutex_);
  core_.on_overflow(name);
  advance(lock);
}

void ClusterSet::Impl::returned(const std::string& name) {
  const auto member = find(name);
  const auto cluster = member ? member->cluster() : nullptr;
  if (!cluster) return;
  MutexLock calling(calling_);
  for (ClusterFollower* follower : followers_) follower->on_returned(*cluster);
}

// The clusters that are engaged already are notified on their threads; those that are being engaged find the
// follower in the list.
void ClusterSet::Impl::add_follower(ClusterFollower& follower) {
  MutexLock calling(calling_);
  followers_.push_back(&follower);
  for (const auto& member : members()) {
    if (!member->cluster()) continue;
    member->loop().post([this, member, added = &follower] {
      const auto cluster = member->cluster();
      MutexLock again(calling_);
      const bool there = std::find(followers_.begin(), followers_.end(), added) != followers_.end();
      if (!cluster || !there || !member->is_open()) return;
      try {
        added->on_engaged(cluster);
      } catch (...) {
        added->on_leaving(*cluster);
        options_.log.error(
            "a controller cannot follow a cluster",
            {{"cluster", member->name()}, {"error", detail::error_text(std::current_exception())}});
      }
    });
  }
}

void ClusterSet::Impl::remove_follower(ClusterFollower& follower) {
  MutexLock calling(calling_);
  std::erase(followers_, &follower);
}

// ---- Runs

// The cluster may leave when its last run has ended, so the handle goes first.
ClusterRun::~ClusterRun() {
  cluster_.reset();
  if (member_) member_->end(ending_);
}

// ---- The public class

namespace {

class ProviderSink final : public ClusterSink {
 public:
  ProviderSink(std::function<void(ClusterDescription)> offer, std::function<void(std::string_view)> withdraw)
      : offer_(std::move(offer)), withdraw_(std::move(withdraw)) {}
  void offer(ClusterDescription description) override { offer_(std::move(description)); }
  void withdraw(std::string_view name) override { withdraw_(name); }

 private:
  const std::function<void(ClusterDescription)> offer_;
  const std::function<void(std::string_view)> withdraw_;
};

}  // namespace

ClusterSet::ClusterSet(ClusterSetOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
ClusterSet::~ClusterSet() = default;

void ClusterSet::engage(ClusterDescription description) {
  impl_->offer(own_provider, std::move(description));
}
void ClusterSet::disengage(std::string_view name) {
  impl_->withdraw(own_provider, name);
}
std::unique_ptr<ClusterSink> ClusterSet::sink(std::string provider) {
  return std::make_unique<ProviderSink>(
      [impl = impl_.get(), provider](ClusterDescription one) { impl->offer(provider, std::move(one)); },
      [impl = impl_.get(), provider](std::string_view name) { impl->withdraw(provider, name); });
}
std::shared_ptr<Cluster> ClusterSet::find(std::string_view name) const {
  const auto member = impl_->find(name);
  return member ? member->cluster() : nullptr;
}
std::vector<ClusterStatus> ClusterSet::status() const {
  std::vector<ClusterStatus> all;
  for (const auto& member : impl_->members()) all.push_back(member->status());
  return all;
}
std::optional<ClusterStatus> ClusterSet::status(std::string_view name) const {
  const auto member = impl_->find(name);
  return member ? std::optional(member->status()) : std::nullopt;
}
void ClusterSet::start() {
  impl_->start();
}
void ClusterSet::stop(std::function<void()> done) {
  impl_->stop(std::move(done));
}
void ClusterSet::add_follower(ClusterFollower& follower) {
  impl_->add_follower(follower);
}
void ClusterSet::remove_follower(ClusterFollower& follower) {
  impl_->remove_follower(follower);
}

ClusterTurn ClusterSet::begin(std::string_view name) {
  const auto member = impl_->find(name);
  if (!member) return {};
  if (member->is_away()) {
    member->note_deferred();
    return {.away = true};
  }
  auto cluster = member->begin();
  if (!cluster) return {};
  return {.run = ClusterRun(member, std::move(cluster))};
}

bool ClusterSet::is_away(std::string_view name) const {
  const auto member = impl_->find(name);
  return member && member->is_away();
}

std::string ClusterSet::blocked_reason(std::string_view name) const {
  const auto member = impl_->find(name);
  const std::string cluster = "cluster " + std::string(name);
  if (!member) return cluster + " is not engaged";
  const ClusterStatus status = member->status();
  if (status.state == ClusterState::engaged) return {};
  return cluster + " is " + std::string(cluster_state_name(status.state)) +
         (status.problem.empty() ? "" : ": " + status.problem);
}

void ClusterSet::collect(MetricSink& sink) const {
  const std::vector<ClusterStatus> all = status();
  const auto number = [](auto count) { return static_cast<double>(count); };
  const auto each = [&](std::string_view family, std::string_view help, bool counts, auto value) {
    for (const ClusterStatus& one : all) {
      const MetricLabel label[] = {{"cluster", one.name}};
      counts ? sink.counter(family, help, {label, 1}, number(value(one)))
             : sink.gauge(family, help, {label, 1}, number(value(one)));
    }
  };
  for (const ClusterStatus& one : all) {
    sink.gauge("evenkeel_cluster_state", "1 for the state that a cluster is in",
               {{"cluster", one.name}, {"state", cluster_state_name(one.state)}}, 1);
  }
  each("evenkeel_cluster_synced", "1 if all watches of the cluster have read their first lists", false,
       [](const ClusterStatus& one) { return one.synced ? 1 : 0; });
  each("evenkeel_cluster_watches", "Watches in the cluster", false,
       [](const ClusterStatus& one) { return one.watches; });
  each("evenkeel_cluster_objects", "Objects of the cluster that are held", false,
       [](const ClusterStatus& one) { return one.objects; });
  each("evenkeel_cluster_bytes", "Bytes of the objects of the cluster that are held", false,
       [](const ClusterStatus& one) { return one.bytes; });
  each("evenkeel_cluster_running_reconciles", "Reconciles that run in the cluster, of all controllers", false,
       [](const ClusterStatus& one) { return one.running; });
  each("evenkeel_cluster_reconciles_total", "Reconciles of the cluster that ended, of all controllers", true,
       [](const ClusterStatus& one) { return one.reconciles; });
  each("evenkeel_cluster_reconcile_errors_total",
       "Reconciles of the cluster that failed; conflicts are not counted", true,
       [](const ClusterStatus& one) { return one.failures; });
  each("evenkeel_cluster_deferred_total", "Turns of keys that had to wait because the cluster was away", true,
       [](const ClusterStatus& one) { return one.deferred; });
}

}  // namespace v0
}  // namespace evenkeel
