// SPDX-License-Identifier: Apache-2.0
// The root of everything that the library throws for what the world did (see docs/errors.md).
#pragma once

#include <stdexcept>
#include <string>

namespace evenkeel {
inline namespace v0 {

/// Base of all exceptions for what the caller did not expect: ApiError (the server's Status),
/// TransportError (no answer), DecodeError (an answer that is not what it should be), ConfigError
/// (a broken kubeconfig or flag), Cancelled (a stop token or deadline ended the call).
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
