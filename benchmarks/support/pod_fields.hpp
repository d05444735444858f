// SPDX-License-Identifier: Apache-2.0
// A struct with ten fields of a pod beside its metadata, to project pods on.
#pragma once

#include <optional>
#include <string>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel::benchmarks {

struct PodFieldsSpec {
  std::string node_name;
  std::string service_account_name;
  std::string restart_policy;
  std::string scheduler_name;
  std::string priority_class_name;
};
EVENKEEL_FIELDS(PodFieldsSpec, node_name, service_account_name, restart_policy, scheduler_name,
                priority_class_name)

struct PodFieldsStatus {
  std::string phase;
  std::string reason;
  std::string message;
  std::string qos_class;
  std::optional<Time> start_time;
};
EVENKEEL_FIELDS(PodFieldsStatus, phase, reason, message, qos_class, start_time)

struct PodFields {
  static constexpr ResourceInfo resource = Pod::resource;
  ObjectMeta metadata = {};
  PodFieldsSpec spec = {};
  PodFieldsStatus status = {};
};
EVENKEEL_FIELDS(PodFields, metadata, spec, status)

}  // namespace evenkeel::benchmarks
