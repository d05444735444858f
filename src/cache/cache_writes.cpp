// SPDX-License-Identifier: Apache-2.0
// The writes of a program, as its cache shows them before the watch does.
#include <deque>
#include <string_view>
#include <utility>

#include "cache/cache_impl.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

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

}  // namespace

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
    for (const WireObject& object : informer->store().list(only, detail::selection(label_selector)))
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

}  // namespace v0
}  // namespace evenkeel
