// SPDX-License-Identifier: Apache-2.0
// Options of the certificates that a program makes for its webhooks.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// An authority and a serving certificate signed by it (both ECDSA P-256), kept in a Secret that all replicas
/// of a program share: the first replica creates them, the others use them.
struct CertificateOptions {
  /// Name of the Secret, in the namespace of the Service; of this program alone. Empty: the Service's name
  /// and
  /// "-certificates".
  std::string secret = {};
  /// DNS names and IP addresses of the serving certificate, in addition to those of the Service.
  std::vector<std::string> names = {};
  /// Validity of an authority; at least three times `validity`. A new one is created after two thirds of it.
  Duration authority_validity = std::chrono::hours{24 * 3650};
  /// Validity of a serving certificate; a new one is created after two thirds of it.
  Duration validity = std::chrono::hours{24 * 90};
  /// Time from the creation of an authority until it signs certificates: by then, every replica and the API
  /// server must have it. At least three times `check_period`.
  Duration settle = std::chrono::minutes{5};
  /// Interval at which the Secret is read, and the configurations in which its authorities are injected.
  Duration check_period = std::chrono::seconds{10};
};

}  // namespace v0
}  // namespace evenkeel
