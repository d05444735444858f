// SPDX-License-Identifier: Apache-2.0
#include "controller.hpp"

#include <chrono>
#include <utility>

#include "auth.hpp"
#include "drain.hpp"
#include "metrics.hpp"
#include "names.hpp"
#include "objects.hpp"
#include "report.hpp"

namespace cache_operator {
namespace {

// An object of a Memcached that had this name before. The garbage collector takes it.
bool is_left_over(const ek::ObjectMeta& object, const v1::Memcached& memcached) {
  const ek::OwnerReference* const owner = ek::controller_of(object);
  return owner != nullptr && owner->uid != memcached.metadata.uid &&
         ek::same_owner(*owner, ek::owner_reference(v1::Memcached::resource, memcached.metadata));
}

// Nothing is sent that is there already, and nothing is taken over that somebody else made. Returns false if
// something has to go first.
template <class T>
bool apply(ek::Context& context, const v1::Memcached& memcached, T object) {
  const auto found = context.find<T>({memcached.metadata.namespace_, object.metadata.name});
  if (found && is_left_over(found->metadata, memcached)) return false;
  context.apply(std::move(object), {.skip_unchanged = true, .unowned = ek::Unowned::refuse});
  return true;
}

bool apply_flush_job(ek::Context& context, const v1::Memcached& memcached, const Settings& settings) {
  if (memcached.spec.flush) return apply(context, memcached, flush_job_of(memcached, settings));
  const auto job = context.find<ek::CronJob>({memcached.metadata.namespace_, flush_name(memcached)});
  if (job && ek::is_owned_by(job->metadata, memcached)) context.remove(*job);
  return true;
}

// The servers come last: when they start or restart, they read what was applied before them.
bool apply_all(ek::Context& context, const v1::Memcached& memcached, const Users& users,
               const Settings& settings) {
  return apply(context, memcached, config_map_of(memcached)) &&
         apply(context, memcached, service_of(memcached)) &&
         apply(context, memcached, disruption_budget_of(memcached)) &&
         apply_flush_job(context, memcached, settings) &&
         apply(context, memcached, stateful_set_of(memcached, users, settings));
}

// Problems that a retry alone does not solve; the user has to know of them.
bool is_for_user(const ek::ApiError& error) {
  return error.is_invalid() || error.is_forbidden();
}

class Reconciler {
 public:
  Reconciler(Settings settings, Metrics metrics)
      : settings_(std::move(settings)), metrics_(std::move(metrics)) {}

  ek::Result operator()(ek::Context& context, const v1::Memcached& memcached) const {
    const Users users = read_users(context, memcached);
    if (!users.problem.empty()) {
      tell(context, memcached, {users.reason, users.problem});
      return ek::done();  // the servers stay as they are, until the watch of Secrets reports a change
    }
    bool applied = false;
    try {
      applied = apply_all(context, memcached, users, settings_);
    } catch (const ek::OwnedByAnother& error) {
      tell(context, memcached, {"NameTaken", error.what()});
      throw;  // and so it is tried again: nobody reports when the name is free
    } catch (const ek::ApiError& error) {
      if (is_for_user(error)) tell(context, memcached, {"ApplyFailed", error.message()});
      throw;
    }
    const auto left = tell(context, memcached, {});
    if (!applied) return ek::requeue_after(std::chrono::seconds{1}, "an object of a deleted cache has to go");
    return left ? ek::requeue_after(*left, "rolling out") : ek::done();
  }

 private:
  std::optional<ek::Duration> tell(ek::Context& context, const v1::Memcached& memcached,
                                   const Problem& problem) const {
    return report(context, memcached, problem, settings_, metrics_);
  }

  Settings settings_;
  Metrics metrics_;
};

}  // namespace

ek::ControllerSpec memcached_controller(const Settings& settings, ek::MetricRegistry& registry) {
  const Metrics metrics(registry);
  return ek::controller_for<v1::Memcached>(Reconciler(settings, metrics), {.when = ek::generation_changed()})
      .owns<ek::ConfigMap>()
      .owns<ek::Service>()
      .owns<ek::StatefulSet>()
      .owns<ek::policy_v1::PodDisruptionBudget>()
      .owns<ek::CronJob>()
      .index("auth", auth_secret_of)
      .watches<ek::Secret>(ek::indexed("auth"), {.form = ek::WireForm::metadata_only})
      .finalize(std::string(drain_finalizer),
                [settings, metrics](ek::Context& context, const v1::Memcached& memcached) {
                  const ek::Result result = drain(context, memcached, settings);
                  if (result == ek::done())
                    metrics.ready.remove(
                        {{"namespace", memcached.metadata.namespace_}, {"name", memcached.metadata.name}});
                  return result;
                });
}

std::vector<ek::PolicyRule> memcached_rules() {
  // An apply that takes nothing over looks first; the first one creates.
  return {{{""}, {"configmaps", "services"}, {"get", "create", "patch"}},
          {{"apps"}, {"statefulsets"}, {"get", "create", "patch"}},
          {{"policy"}, {"poddisruptionbudgets"}, {"get", "create", "patch"}},
          {{"batch"}, {"cronjobs"}, {"get", "create", "patch", "delete"}},
          {{""}, {"secrets"}, {"get"}},
          {{"cache.evenkeel.dev"}, {"memcacheds/status"}, {"patch"}},
          {{"events.k8s.io"}, {"events"}, {"create", "patch"}}};
}

}  // namespace cache_operator
