// SPDX-License-Identifier: Apache-2.0
// `evenkeel explain`: asks a running operator why an object is not being reconciled.
#pragma once

#include <string>

namespace evenkeel::program {

struct ExplainFlags {
  std::string controller = {};  ///< Empty: all of them.
  std::string object = {};      ///< "namespace/name", or "name". Empty: the whole controller.
  std::string url = "http://127.0.0.1:8080";
  std::string token_file = {};
  std::string ca_file = {};           ///< Authorities of the operator's certificate; empty: the system's.
  std::string server_name = {};       ///< Name that the certificate must have; empty: the host of `url`.
  bool credentials_in_clear = false;  ///< Permit sending the token over plain http to another machine.
  bool json = false;
};

/// Returns the request target, "/debug/explain/demo/default/web".
std::string explain_target(const ExplainFlags& flags);

/// Prints the response to standard output, or the error to standard error. Returns the exit code: 0, or 1 if
/// the operator did not respond or does not know the object.
int explain(const ExplainFlags& flags);

}  // namespace evenkeel::program
