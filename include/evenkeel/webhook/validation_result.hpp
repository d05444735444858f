// SPDX-License-Identifier: Apache-2.0
// The result of a validation.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/webhook/admission.hpp>

namespace evenkeel {
inline namespace v0 {

/// The problems found in an object; an empty result allows the write.
///
///     ek::ValidationResult result;
///     if (site.spec.replicas > 10) result.invalid("spec.replicas", "must be at most 10");
///     return result;
///
/// Causes become a 422 Invalid with a field each, as the API server's own validation returns them; deny() is
/// a 403 Forbidden with one message. If both are there, deny() decides code and message, and the causes stay.
/// Thread safety: that of standard containers.
class EVENKEEL_API ValidationResult {
 public:
  ValidationResult() = default;
  static ValidationResult allow() { return {}; }
  static ValidationResult deny(std::string message);
  /// Answers with `status` as it is, for example that of an ApiError.
  static ValidationResult refuse(Status status);

  /// Adds a cause for `field`, such as "spec.ports[0].name".
  ValidationResult& invalid(std::string field, std::string message);
  ValidationResult& required(std::string field, std::string message);
  ValidationResult& forbidden(std::string field, std::string message);
  ValidationResult& duplicate(std::string field, std::string message);
  /// Adds a warning that clients show to their users, for allowed and denied writes alike. Line breaks become
  /// blanks; the API server truncates a text above 256 bytes.
  ValidationResult& warn(std::string text);

  bool allowed() const noexcept { return status_.code == 0 && status_.causes.empty(); }
  const std::vector<StatusCause>& causes() const noexcept { return status_.causes; }
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  /// Returns the Status of a denied write; meaningless for an allowed one. Source: apimachinery
  /// errors.NewInvalid, for code, reason and message.
  Status status(const AdmissionRequest& request) const;

 private:
  ValidationResult& add(const char* reason, const char* text, std::string field, const std::string& message);

  Status status_;  // code 0: derived from the causes
  std::vector<std::string> warnings_;
};

}  // namespace v0
}  // namespace evenkeel
