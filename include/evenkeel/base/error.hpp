// SPDX-License-Identifier: Apache-2.0
// Base of the exceptions for failures outside the program (see docs/errors.md).
#pragma once

#include <stdexcept>
#include <string>

namespace evenkeel {
inline namespace v0 {

/// Base of all exceptions for failures that are not the caller's mistake: ApiError (the server's Status),
/// TransportError (no response), DecodeError (a malformed response), ConfigError (a broken kubeconfig or
/// flag), Cancelled (a stop token or deadline ended the call).
/// Broken preconditions are std::invalid_argument instead.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A stop token was triggered while a call waited. Never counted as a failure of the server.
class Cancelled : public Error {
 public:
  explicit Cancelled(const std::string& what) : Error(what) {}
};

}  // namespace v0
}  // namespace evenkeel
