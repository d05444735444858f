// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/batch.hpp>

namespace evenkeel {
inline namespace v0 {
namespace batch_v1 {

EVENKEEL_DEFINE_FIELDS(PodFailurePolicyOnExitCodesRequirement, container_name, operator_, (values, list_set))
EVENKEEL_DEFINE_FIELDS(PodFailurePolicyOnPodConditionsPattern, status, type)
EVENKEEL_DEFINE_FIELDS(PodFailurePolicyRule, action, on_exit_codes, on_pod_conditions)
EVENKEEL_DEFINE_FIELDS(PodFailurePolicy, rules)
EVENKEEL_DEFINE_FIELDS(SuccessPolicyRule, succeeded_count, succeeded_indexes)
EVENKEEL_DEFINE_FIELDS(SuccessPolicy, rules)
EVENKEEL_DEFINE_FIELDS(JobSpec, active_deadline_seconds, backoff_limit, backoff_limit_per_index,
                       completion_mode, completions, managed_by, manual_selector, max_failed_indexes,
                       parallelism, pod_failure_policy, pod_replacement_policy, selector, success_policy,
                       suspend, template_, ttl_seconds_after_finished)
EVENKEEL_DEFINE_FIELDS(JobCondition, status, last_probe_time, last_transition_time, message, reason, type)
EVENKEEL_DEFINE_FIELDS(UncountedTerminatedPods, (failed, list_set), (succeeded, list_set))
EVENKEEL_DEFINE_FIELDS(JobStatus, active, completed_indexes, completion_time, (conditions, match_by("type")),
                       failed, failed_indexes, ready, start_time, succeeded, terminating,
                       uncounted_terminated_pods)
EVENKEEL_DEFINE_FIELDS(Job, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(JobTemplateSpec, metadata, spec)
EVENKEEL_DEFINE_FIELDS(CronJobSpec, concurrency_policy, failed_jobs_history_limit, job_template, schedule,
                       starting_deadline_seconds, successful_jobs_history_limit, suspend, time_zone)
EVENKEEL_DEFINE_FIELDS(CronJobStatus, active, last_schedule_time, last_successful_time)
EVENKEEL_DEFINE_FIELDS(CronJob, metadata, spec, status)

}  // namespace batch_v1
}  // namespace v0
}  // namespace evenkeel
