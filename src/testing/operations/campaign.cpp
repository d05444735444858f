// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/campaign.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string_view>

#include "base/ascii.hpp"
#include "testing/operations/error_report.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

// Changes before a failing one that are taken away one by one, to see whether they matter.
constexpr std::size_t most_shrunk = 50;

Json parsed_value(const std::string& path, const std::string& text) {
  try {
    return Json::parse(text, "the value of " + path);
  } catch (const DecodeError& error) {
    throw std::invalid_argument(std::string("operations: ") + error.what());
  }
}

// Returns true for the name of a flag that keeps an operator from its work: "suspend", "paused", "disabled".
bool stops_work(const std::string& name) {
  const std::string low = evenkeel::detail::ascii::lower(name);
  const auto has = [&low](std::string_view word) { return low.find(word) != std::string::npos; };
  return has("suspend") || has("pause") || has("disable") || has("stop") || has("halt") || has("freeze") ||
         has("hibernat") || has("maintenance") || has("unmanaged");
}

// Returns true for a value with which the changes of other properties may have no effect, so that it does not
// stay: a flag that stops the operator, or another one that is switched off.
bool hides_others(const std::string& name, const Json& value) {
  return value.is_bool() && value.as_bool() == stops_work(name);
}

// Fisher and Yates, with the same result everywhere.
void shuffle(std::vector<Property>& properties, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  for (std::size_t left = properties.size(); left > 1; --left)
    std::swap(properties[left - 1], properties[engine() % left]);
}

}  // namespace

Campaign::Campaign(const OperationRunner::MakeControllers& make, const OperationSubject& subject,
                   const OperationsOptions& options)
    : subject_(subject),
      options_(options),
      runner_(make, subject, options),
      schema_(operations_schema(*subject.type)),
      untouched_(options.untouched.begin(), options.untouched.end()),
      reports_error_(options.reports_error) {
  if (!reports_error_) reports_error_ = [](const Json& object) { return shows_error(object["status"]); };
}

Operations Campaign::run() {
  result_.type = std::string(subject_.type->name);
  if (!examine_reference()) return std::move(result_);
  if (options_.changes.empty()) {
    change_all();
    check_values();
    look_for_silence();
  } else {
    for (const PropertyChange& change : options_.changes) {
      const Change wanted = parsed(change);
      std::optional<Tried> tried = make_change(wanted);
      if (tried && change.kind == ValueKind::valid && is_base(*tried)) advance(wanted, std::move(*tried));
    }
  }
  result_.properties_left_out = left_out_.size();
  return std::move(result_);
}

bool Campaign::examine_reference() {
  std::string refusal;
  base_ = base_of(runner_.document(), &refusal);
  if (!refusal.empty()) {
    result_.reference.push_back(
        {OperationProblemKind::unreported, "the given object is refused: " + refusal});
    return false;
  }
  const Base again = base_of(runner_.document(), &refusal);
  refresh(base_);
  result_.reference = assess_reference(base_.seen, again.seen);
  return result_.reference.empty();
}

Campaign::Base Campaign::base_of(const Json& document, std::string* refusal) {
  CreationRun run = runner_.create(document);
  *refusal = run.refusal;
  if (!refusal->empty()) return {};
  return {.document = document,
          .seen = runner_.look_at(std::move(run.after)),
          .resources = runner_.resources_seen()};
}

// Looks again at a world in which more kinds of objects count now.
void Campaign::refresh(Base& base) const {
  if (base.resources == runner_.resources_seen()) return;
  base.seen = runner_.look_at(std::move(base.seen.facts));
  base.resources = runner_.resources_seen();
}

// The properties that there are depend on the object: those of a section appear with it.
void Campaign::change_all() {
  std::set<std::string> done;
  for (bool more = true; more;) {
    more = false;
    Properties properties = properties_of(schema_, base_.document, untouched_);
    left_out_.insert(properties.left_out.begin(), properties.left_out.end());
    if (options_.seed != 0) shuffle(properties.all, options_.seed);
    for (const Property& property : properties.all) {
      if (!done.insert(property.path.str()).second) continue;
      if (!change_property(property) || !property.is_container) continue;
      more = true;
      break;
    }
  }
}

// Notes the change since which nothing has had an effect any more, if many have been made since.
void Campaign::look_for_silence() {
  constexpr std::ptrdiff_t fewest = 5;
  std::vector<const TouchedProperty*> tried;
  for (const TouchedProperty& property : result_.properties) {
    if (property.effective > 0) tried.push_back(&property);
  }
  const auto last = std::find_if(tried.rbegin(), tried.rend(),
                                 [](const TouchedProperty* one) { return !one->dependents.empty(); });
  // The change that stays and causes it may have an effect of its own, or none.
  const auto stays = [this](const TouchedProperty* property) {
    return std::any_of(advanced_.begin(), advanced_.end(),
                       [property](const Change& change) { return change.text.path == property->path; });
  };
  auto cause = last.base();
  if (last != tried.rend() && stays(*last)) --cause;
  while (cause != tried.end() && !stays(*cause)) ++cause;
  if (cause == tried.end() || tried.end() - cause <= fewest) return;
  result_.silent_since = (*cause)->path;
  result_.silent = static_cast<std::size_t>(tried.end() - cause) - 1;
}

// Otherwise values for a path that does not exist would go unnoticed.
void Campaign::check_values() const {
  for (const auto& [path, values] : options_.values) {
    if (!property_numbers_.contains(path) && result_.left_out == 0)
      throw std::invalid_argument("operations: OperationsOptions::values has " + path +
                                  ", which is no property of " + result_.type +
                                  " that is changed; list items have the index 0");
  }
}

// Returns true if the object is another one afterwards.
bool Campaign::change_property(const Property& property) {
  touched(property.path.str());
  std::optional<std::pair<Change, Tried>> first;
  std::size_t effective = 0;
  for (const Change& change : changes_of(property)) {
    const bool counts = change.text.kind == ValueKind::valid && change.value;
    if (counts && effective >= options_.values_per_property) continue;
    if (result_.changes >= options_.max_changes) {
      ++result_.left_out;
      continue;
    }
    std::optional<Tried> tried = make_change(change);
    if (!tried || !counts) continue;
    ++effective;
    if (!first && is_base(*tried) && !hides_others(property.schema.name, *change.value))
      first.emplace(change, std::move(*tried));
  }
  if (!first) return false;
  advance(first->first, std::move(first->second));
  return true;
}

std::vector<Campaign::Change> Campaign::changes_of(const Property& property) const {
  const std::string path = property.path.str();
  std::vector<Change> changes;
  if (const auto given = options_.values.find(path); given != options_.values.end()) {
    for (const std::string& value : given->second.valid) changes.push_back(parsed(set_property(path, value)));
    for (const std::string& value : given->second.wrong) changes.push_back(parsed(set_wrong(path, value)));
    return changes;
  }
  for (Candidate& candidate : candidates(property.schema, property.path.find(base_.document))) {
    PropertyChange text{
        .path = path, .value = candidate.value ? candidate.value->dump() : "", .kind = candidate.kind};
    changes.push_back({.text = std::move(text),
                       .path = property.path,
                       .value = std::move(candidate.value),
                       .breaks_schema = candidate.breaks_schema});
  }
  return changes;
}

Campaign::Change Campaign::parsed(const PropertyChange& change) const {
  for (const std::string_view member : {"apiVersion", "kind", "metadata", "status"}) {
    if (change.path.substr(0, change.path.find_first_of(".[")) == member)
      throw std::invalid_argument("operations: " + change.path + " is not changed: only the content of a " +
                                  std::string(subject_.type->name) + " is");
  }
  Change made{.text = change, .path = PropertyPath::parse(change.path)};
  if (!change.value.empty()) made.value = parsed_value(change.path, change.value);
  return made;
}

// Returns std::nullopt if there is nothing to assess: the server refuses the change, or it changes nothing.
std::optional<Campaign::Tried> Campaign::make_change(const Change& change) {
  TouchedProperty& property = touched(change.text.path);
  Admission admission = runner_.admission(*base_.seen.facts.world, change.path, change.value);
  if (!admission.refusal.empty()) {
    ++result_.changes;
    ++result_.refused;
    ++property.refused;
    if (!options_.changes.empty() && change.text.kind == ValueKind::valid)
      report(change, {.problems = {{OperationProblemKind::not_reached,
                                    "the server refuses the change: " + admission.refusal}}});
    return std::nullopt;
  }
  if (!admission.effective && !options_.changes.empty()) {
    // A change that is kept as a test must not become one of nothing.
    ++result_.changes;
    report(change, {.problems = {{OperationProblemKind::not_reached, "the change changes nothing"}}});
    return std::nullopt;
  }
  if (!admission.effective || change.breaks_schema) return std::nullopt;
  ++result_.changes;
  ObservedChange observed = observe_change(base_, change, admission.document, nullptr);
  const std::size_t resources = runner_.resources_seen();  // report() may see more
  Tried tried{.assessment = assess_change(observed, reports_error_)};
  if (change.text.kind == ValueKind::valid) {
    ++property.effective;
    std::vector<std::string>& fields = property.dependents;
    for (std::string& field : dependents_of(observed.before.state, observed.after.state, runner_.object()))
      fields.push_back(std::move(field));
    std::sort(fields.begin(), fields.end());
    fields.erase(std::unique(fields.begin(), fields.end()), fields.end());
  }
  if (tried.assessment.reported) ++result_.reported;
  if (!tried.assessment.problems.empty()) report(change, tried.assessment);
  // A world with a problem is no base for further changes; that of a new object is.
  const bool clean = tried.assessment.problems.empty() || !observed.fresh;
  tried.next = {.document = std::move(admission.document),
                .seen = std::move(clean ? observed.after : *observed.fresh),
                .resources = resources};
  return tried;
}

// A world without the object, or with an operator that fails or reports an error, would spoil all further
// changes.
bool Campaign::is_base(const Tried& tried) const {
  const Seen& seen = tried.next.seen;
  const auto object = seen.state.find(runner_.object());
  if (tried.assessment.reported || !seen.facts.failure.empty() || !seen.facts.unsettled_reason.empty())
    return false;
  return object != seen.state.end() &&
         (!reports_error_(object->second) || reports_error_(base_.seen.state.at(runner_.object())));
}

void Campaign::advance(const Change& change, Tried tried) {
  base_ = std::move(tried.next);
  advanced_.push_back(change);
}

ObservedChange Campaign::observe_change(Base& base, const Change& change, const Json& document,
                                        std::string* timeline) {
  ChangeRun run = runner_.change(*base.seen.facts.world, change.path, change.value, timeline != nullptr);
  if (timeline != nullptr) *timeline = std::move(run.timeline);
  ObservedChange observed{
      .kind = change.text.kind, .object = runner_.object(), .restless = std::move(run.restless)};
  std::optional<CreationRun> fresh;
  if (change.text.kind == ValueKind::valid) fresh = runner_.create(document);
  if (observed.restless.empty()) {
    refresh(base);
    observed.before = base.seen;
  } else {
    observed.before = runner_.look_at(std::move(run.before));
  }
  observed.after = runner_.look_at(std::move(run.after));
  if (fresh && fresh->refusal.empty()) observed.fresh = runner_.look_at(std::move(fresh->after));
  if (run.rolled_back) observed.rolled_back = runner_.look_at(std::move(*run.rolled_back));
  return observed;
}

TouchedProperty& Campaign::touched(const std::string& path) {
  const auto [found, added] = property_numbers_.try_emplace(path, result_.properties.size());
  if (added) result_.properties.push_back({.path = path});
  return result_.properties[found->second];
}

void Campaign::report(const Change& change, const ChangeAssessment& assessment) {
  ++result_.changes_failed;
  const OperationProblemKind kind = assessment.problems.front().kind;
  const auto key = std::pair(change.text.path, kind);
  if (const auto found = known_.find(key); found != known_.end()) {
    if (found->second < result_.findings.size()) ++result_.findings[found->second].alike;
    return;
  }
  const bool shown = result_.findings.size() < options_.max_findings;
  known_[key] = shown ? result_.findings.size() : options_.max_findings;
  if (!shown) return;
  const Json* const from = change.path.find(base_.document);
  OperationFinding finding{.change = change.text,
                           .from = from == nullptr ? "" : from->dump(),
                           .before = necessary_before(change, kind),
                           .problems = assessment.problems};
  if (kind != OperationProblemKind::not_reached)
    runner_.change(*base_.seen.facts.world, change.path, change.value, true).timeline.swap(finding.timeline);
  result_.findings.push_back(std::move(finding));
}

// Returns the fewest changes before `change`, found by leaving out one after another, with which a new object
// shows the problem.
std::vector<PropertyChange> Campaign::necessary_before(const Change& change, OperationProblemKind kind) {
  std::vector<Change> before;
  if (!repeats(before, change, kind)) {
    before = advanced_;
    if (before.size() <= most_shrunk && repeats(before, change, kind)) {
      for (std::size_t at = before.size(); at-- > 0;) {
        std::vector<Change> fewer = before;
        fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(at));
        if (repeats(fewer, change, kind)) before = std::move(fewer);
      }
    }
  }
  std::vector<PropertyChange> texts;
  texts.reserve(before.size());
  for (Change& one : before) texts.push_back(std::move(one.text));
  return texts;
}

bool Campaign::repeats(const std::vector<Change>& before, const Change& change, OperationProblemKind kind) {
  Json document = runner_.document();
  for (const Change& one : before) {
    if (one.value) {
      one.path.set(document, *one.value);
    } else {
      one.path.erase(document);
    }
  }
  std::string refusal;
  Base base = base_of(document, &refusal);
  if (!refusal.empty()) return false;
  const Admission admission = runner_.admission(*base.seen.facts.world, change.path, change.value);
  if (!admission.refusal.empty() || !admission.effective) return false;
  const ChangeAssessment assessment =
      assess_change(observe_change(base, change, admission.document, nullptr), reports_error_);
  return std::any_of(assessment.problems.begin(), assessment.problems.end(),
                     [kind](const OperationProblem& problem) { return problem.kind == kind; });
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
