// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>
#include <utility>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/run.hpp>

#include "apiserver/text/seconds_text.hpp"
#include "testing/harness/harness_impl.hpp"
#include "testing/harness/harness_report.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

constexpr std::size_t runs_shown = 5;

}  // namespace

std::string Harness::Impl::story_of_last() const {
  std::string text = "Harness: more than " + std::to_string(options_.max_runs) +
                     " runs, and a timer is still due at " + apiserver::seconds_text(elapsed()) +
                     "; the last ones:";
  const std::size_t first = runs_.size() - std::min(runs_.size(), runs_shown);
  return text + "\n" + detail::story(std::span(runs_).subspan(first));
}

std::string Harness::Impl::str() const {
  std::string text = detail::story(runs_);
  if (!text.empty()) text += "\n";
  return text + std::to_string(runs_.size()) + " runs in " + apiserver::seconds_text(elapsed());
}

Harness::Harness(HarnessOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Harness::~Harness() = default;
Harness::Harness(Harness&&) noexcept = default;
Harness& Harness::operator=(Harness&&) noexcept = default;

void Harness::add(ControllerSpec spec) {
  impl_->add(std::move(spec));
}
void Harness::create(const Objects& objects) {
  create_objects(impl_->client_, objects);
}
void Harness::after(Duration delay, std::function<void()> action) {
  impl_->after(delay, std::move(action));
}
void Harness::enqueue(const ObjectKey& key, std::string_view controller) {
  impl_->enqueue(key, controller);
}
apiserver::FaultId Harness::inject(apiserver::FaultRule rule) {
  return impl_->inject(std::move(rule));
}
void Harness::remove_fault(apiserver::FaultId id) {
  impl_->core_->remove_fault(id);
}
apiserver::FaultCounts Harness::fault_counts(apiserver::FaultId id) const {
  return impl_->core_->fault_counts(id);
}
void Harness::restart() {
  impl_->restart();
}
apiserver::World Harness::snapshot() const {
  return impl_->core_->snapshot();
}
std::optional<ReconcileRun> Harness::step() {
  const ReconcileRun* const run = impl_->step();
  return run == nullptr ? std::nullopt : std::optional(*run);
}
bool Harness::settle(Duration limit) {
  return impl_->settle(limit);
}
void Harness::run_for(Duration time) {
  impl_->run_for(time);
}
const std::vector<ReconcileRun>& Harness::runs() const noexcept {
  return impl_->runs_;
}
const ReconcileRun& Harness::last() const {
  if (impl_->runs_.empty()) throw Error("Harness: nothing was reconciled");
  return impl_->runs_.back();
}
std::vector<Write> Harness::writes() const {
  std::vector<Write> all;
  for (const ReconcileRun& run : impl_->runs_) all.insert(all.end(), run.writes.begin(), run.writes.end());
  return all;
}
std::vector<Write> Harness::changes() const {
  std::vector<Write> all = writes();
  std::erase_if(all, [](const Write& write) { return !write.ok() || write.changes().empty(); });
  return all;
}
std::vector<std::string> Harness::log() const {
  return impl_->log_;
}
std::vector<Snapshot<core_v1::Event>> Harness::events() const {
  return list<core_v1::Event>();
}
std::string Harness::str() const {
  return impl_->str();
}
AccessRecord Harness::accesses() const {
  return impl_->accesses();
}
Duration Harness::elapsed() const {
  return impl_->elapsed();
}
const Cache& Harness::cache() const noexcept {
  return impl_->cache();
}
const Client& Harness::client() const noexcept {
  return impl_->client_;
}
const std::shared_ptr<const Clock>& Harness::clock() const noexcept {
  return impl_->read_clock_;
}

namespace detail {
namespace {

ObjectKey key_for(const ControllerSpec& spec, const Objects& objects, const RunOptions& options) {
  if (options.key) return *options.key;
  for (const Object& object : objects) {
    for (const Json& document : object.documents()) {
      if (document["kind"] != Json(spec.resource.kind) ||
          document["apiVersion"] != Json(spec.resource.api_version()))
        continue;
      const bool namespaced = spec.resource.scope == Scope::namespaced;
      return {namespaced ? document.at({"metadata", "namespace"}).string_or("default") : "",
              document.at({"metadata", "name"}).string_or("")};
    }
  }
  throw std::invalid_argument("run_once: no object is a " + spec.resource.kind +
                              ", and RunOptions.key is not set");
}

// Returns the mapping restricted to one key.
KeyMapping only(ObjectKey key, KeyMapping inner) {
  return [key = std::move(key), inner = std::move(inner)](const WireObject& object,
                                                          std::vector<ObjectKey>& keys) {
    inner(object, keys);
    std::erase_if(keys, [&key](const ObjectKey& found) { return found != key; });
  };
}

}  // namespace

Harness run(ControllerSpec spec, const Objects& objects, const RunOptions& options) {
  Harness harness(options.harness);
  harness.add(std::move(spec));
  harness.create(objects);
  harness.settle(options.limit);
  return harness;
}

Harness run_once(ControllerSpec spec, const Objects& objects, const RunOptions& options) {
  const ObjectKey key = key_for(spec, objects, options);
  for (WatchSpec& watch : spec.watches) {
    if (watch.bind) {
      watch.bind = [key, inner = std::move(watch.bind)](Cache& cache) { return only(key, inner(cache)); };
    } else {
      watch.mapping = only(key, std::move(watch.mapping));
    }
  }
  Harness harness(options.harness);
  harness.add(std::move(spec));
  harness.create(objects);
  harness.enqueue(key);
  if (!harness.step()) throw Error("run_once: the first lists could not be read:\n" + harness.str());
  return harness;
}

}  // namespace detail
}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
