// SPDX-License-Identifier: Apache-2.0
// Certificate files of a server.
#pragma once

#include <string>

namespace evenkeel {
inline namespace v0 {
namespace http {

/// PEM files, reread when they change. While their contents are invalid, the last valid ones stay in use and
/// the reason is logged.
struct TlsFiles {
  std::string certificate = {};  ///< Certificate with its chain. Empty: no TLS.
  std::string key = {};
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
