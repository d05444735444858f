// SPDX-License-Identifier: Apache-2.0
#include "webhook.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace cache_operator {
namespace {

// The API server checks the numbers when the CronJob is applied; then the status reports them.
bool is_schedule(std::string_view text) {
  if (text.starts_with('@')) return text.size() > 1;
  const bool known =
      text.find_first_not_of("0123456789*/,-? ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
      std::string_view::npos;
  const bool digits = text.find_first_of("0123456789*?") != std::string_view::npos;
  return known && digits && std::count(text.begin(), text.end(), ' ') == 4;
}

void check_memory(const ek::Quantity& memory, ek::ValidationResult& result) {
  if (memory < ek::Quantity(8 * mebibyte)) result.invalid("spec.memory", "must be at least 8Mi");
  if (memory > ek::Quantity(mebibyte * mebibyte)) result.invalid("spec.memory", "must be at most 1Ti");
  if (memory != ek::Quantity(memory.value() / mebibyte * mebibyte))
    result.invalid("spec.memory", "must be a whole number of Mi");
}

bool restarts_servers(const v1::MemcachedSpec& before, const v1::MemcachedSpec& now) {
  return before.image != now.image || before.memory != now.memory || before.connections != now.connections ||
         before.threads != now.threads || before.auth.has_value() != now.auth.has_value() ||
         (now.auth && before.auth->secret_name != now.auth->secret_name);
}

ek::ValidationResult check_deletion(const v1::Memcached& memcached) {
  if (memcached.metadata.annotations.contains(std::string(keep_annotation)))
    return ek::ValidationResult::deny("it has the annotation " + std::string(keep_annotation));
  return ek::ValidationResult::allow();
}

ek::ValidationResult check_write(const ek::Validation<v1::Memcached>& it) {
  if (it.request.operation == ek::AdmissionOperation::remove) return check_deletion(it.object);
  const v1::MemcachedSpec& spec = it.object.spec;
  ek::ValidationResult result;
  check_memory(spec.memory, result);
  if (spec.flush && !is_schedule(spec.flush->schedule))
    result.invalid("spec.flush.schedule", "must have five fields, as \"0 3 * * *\"");
  if (spec.replicas > 1 && spec.max_unavailable >= spec.replicas)
    result.warn("spec.maxUnavailable allows to evict all servers at the same time");
  if (it.old != nullptr && restarts_servers(it.old->spec, spec))
    result.warn("all servers restart one by one, and lose what they hold");
  return result;
}

}  // namespace

ek::Webhook memcached_webhook(const Settings& settings) {
  using ek::AdmissionOperation;
  return ek::webhook_for<v1::Memcached>()
      .defaults([image = settings.image](v1::Memcached& memcached, const ek::AdmissionRequest&) {
        if (!memcached.spec.image) memcached.spec.image = image;
      })
      .validates(check_write, {.operations = {AdmissionOperation::create, AdmissionOperation::update,
                                              AdmissionOperation::remove}});
}

}  // namespace cache_operator
