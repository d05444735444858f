// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

std::string path_of(const char* verb, const ResourceId& resource) {
  std::string group = resource.group;
  std::replace(group.begin(), group.end(), '.', '-');
  std::string kind = resource.kind;
  for (char& c : kind) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::string("/") + verb + "-" + group + "-" + resource.version + "-" + kind;
}

void check(const ResourceId& resource, const WebhookOptions& options) {
  const std::string name = "webhook of " + resource.kind + ": ";
  if (options.operations.empty()) throw std::invalid_argument(name + "operations is empty");
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(options.timeout);
  if (whole != options.timeout || whole.count() < 1 || whole.count() > 30)
    throw std::invalid_argument(name + "timeout must be from 1 to 30 whole seconds");
}

}  // namespace

void Webhook::set_defaulter(Defaulter defaulter, WebhookOptions options) {
  check(resource_, options);
  defaulter_ = std::move(defaulter);
  defaulting_ = std::move(options);
}

void Webhook::set_validator(Validator validator, WebhookOptions options) {
  check(resource_, options);
  validator_ = std::move(validator);
  validating_ = std::move(options);
}

std::string mutate_path(const ResourceId& resource) {
  return path_of("mutate", resource);
}
std::string validate_path(const ResourceId& resource) {
  return path_of("validate", resource);
}

namespace detail {

std::string describe(const AdmissionRequest& request, std::string_view document) {
  return request.what() + ": " + std::string(document);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
