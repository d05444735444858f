// SPDX-License-Identifier: Apache-2.0
// The certificate of a server, as files.
#pragma once

#include <string>

namespace evenkeel {
inline namespace v0 {
namespace http {

/// PEM files, read again when they change. While what they hold cannot be used, the last that could be stays
/// in use, and the log says why.
struct TlsFiles {
  std::string certificate = {};  ///< With its chain. Empty: no TLS.
  std::string key = {};
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
