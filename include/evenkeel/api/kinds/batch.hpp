// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of batch v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace batch_v1 {

struct PodFailurePolicyOnExitCodesRequirement {
  std::optional<std::string> container_name = {};
  std::string operator_ = {};  ///< "In", "NotIn".
  std::vector<std::int32_t> values = {};

  bool operator==(const PodFailurePolicyOnExitCodesRequirement&) const = default;
};

struct PodFailurePolicyOnPodConditionsPattern {
  std::optional<std::string> status = {};
  std::string type = {};

  bool operator==(const PodFailurePolicyOnPodConditionsPattern&) const = default;
};

struct PodFailurePolicyRule {
  std::string action = {};  ///< "Count", "FailIndex", "FailJob", "Ignore".
  std::optional<PodFailurePolicyOnExitCodesRequirement> on_exit_codes = {};
  std::vector<PodFailurePolicyOnPodConditionsPattern> on_pod_conditions = {};

  bool operator==(const PodFailurePolicyRule&) const = default;
};

struct PodFailurePolicy {
  std::vector<PodFailurePolicyRule> rules = {};

  bool operator==(const PodFailurePolicy&) const = default;
};

struct SuccessPolicyRule {
  std::optional<std::int32_t> succeeded_count = {};
  std::optional<std::string> succeeded_indexes = {};

  bool operator==(const SuccessPolicyRule&) const = default;
};

struct SuccessPolicy {
  std::vector<SuccessPolicyRule> rules = {};

  bool operator==(const SuccessPolicy&) const = default;
};

struct JobSpec {
  std::optional<std::int64_t> active_deadline_seconds = {};
  std::optional<std::int32_t> backoff_limit = {};
  std::optional<std::int32_t> backoff_limit_per_index = {};
  std::optional<std::string> completion_mode = {};  ///< "Indexed", "NonIndexed".
  std::optional<std::int32_t> completions = {};
  std::optional<std::string> managed_by = {};
  std::optional<bool> manual_selector = {};
  std::optional<std::int32_t> max_failed_indexes = {};
  std::optional<std::int32_t> parallelism = {};
  std::optional<PodFailurePolicy> pod_failure_policy = {};
  std::optional<std::string> pod_replacement_policy = {};  ///< "Failed", "TerminatingOrFailed".
  std::optional<LabelSelector> selector = {};
  std::optional<SuccessPolicy> success_policy = {};
  std::optional<bool> suspend = {};
  core_v1::PodTemplateSpec template_ = {};
  std::optional<std::int32_t> ttl_seconds_after_finished = {};

  bool operator==(const JobSpec&) const = default;
};

struct JobCondition {
  std::string status = {};
  std::optional<Time> last_probe_time = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const JobCondition&) const = default;
};

struct UncountedTerminatedPods {
  std::vector<std::string> failed = {};
  std::vector<std::string> succeeded = {};

  bool operator==(const UncountedTerminatedPods&) const = default;
};

struct JobStatus {
  std::optional<std::int32_t> active = {};
  std::optional<std::string> completed_indexes = {};
  std::optional<Time> completion_time = {};
  std::vector<JobCondition> conditions = {};
  std::optional<std::int32_t> failed = {};
  std::optional<std::string> failed_indexes = {};
  std::optional<std::int32_t> ready = {};
  std::optional<Time> start_time = {};
  std::optional<std::int32_t> succeeded = {};
  std::optional<std::int32_t> terminating = {};
  std::optional<UncountedTerminatedPods> uncounted_terminated_pods = {};

  bool operator==(const JobStatus&) const = default;
};

/// batch/v1 Job.
struct Job {
  static constexpr ResourceInfo resource{.group = "batch", .version = "v1", .kind = "Job", .plural = "jobs"};
  ObjectMeta metadata = {};
  JobSpec spec = {};
  JobStatus status = {};

  bool operator==(const Job&) const = default;
};

struct JobTemplateSpec {
  ObjectMeta metadata = {};
  JobSpec spec = {};

  bool operator==(const JobTemplateSpec&) const = default;
};

struct CronJobSpec {
  std::optional<std::string> concurrency_policy = {};  ///< "Allow", "Forbid", "Replace".
  std::optional<std::int32_t> failed_jobs_history_limit = {};
  JobTemplateSpec job_template = {};
  std::optional<std::string> schedule = {};
  std::optional<std::int64_t> starting_deadline_seconds = {};
  std::optional<std::int32_t> successful_jobs_history_limit = {};
  std::optional<bool> suspend = {};
  std::optional<std::string> time_zone = {};

  bool operator==(const CronJobSpec&) const = default;
};

struct CronJobStatus {
  std::vector<core_v1::ObjectReference> active = {};
  std::optional<Time> last_schedule_time = {};
  std::optional<Time> last_successful_time = {};

  bool operator==(const CronJobStatus&) const = default;
};

/// batch/v1 CronJob.
struct CronJob {
  static constexpr ResourceInfo resource{
      .group = "batch", .version = "v1", .kind = "CronJob", .plural = "cronjobs", .short_name = "cj"};
  ObjectMeta metadata = {};
  CronJobSpec spec = {};
  CronJobStatus status = {};

  bool operator==(const CronJob&) const = default;
};

EVENKEEL_DECLARE_FIELDS(PodFailurePolicyOnExitCodesRequirement)
EVENKEEL_DECLARE_FIELDS(PodFailurePolicyOnPodConditionsPattern)
EVENKEEL_DECLARE_FIELDS(PodFailurePolicyRule)
EVENKEEL_DECLARE_FIELDS(PodFailurePolicy)
EVENKEEL_DECLARE_FIELDS(SuccessPolicyRule)
EVENKEEL_DECLARE_FIELDS(SuccessPolicy)
EVENKEEL_DECLARE_FIELDS(JobSpec)
EVENKEEL_DECLARE_FIELDS(JobCondition)
EVENKEEL_DECLARE_FIELDS(UncountedTerminatedPods)
EVENKEEL_DECLARE_FIELDS(JobStatus)
EVENKEEL_DECLARE_FIELDS(Job)
EVENKEEL_DECLARE_FIELDS(JobTemplateSpec)
EVENKEEL_DECLARE_FIELDS(CronJobSpec)
EVENKEEL_DECLARE_FIELDS(CronJobStatus)
EVENKEEL_DECLARE_FIELDS(CronJob)

}  // namespace batch_v1

using batch_v1::CronJob;
using batch_v1::Job;

}  // namespace v0
}  // namespace evenkeel
