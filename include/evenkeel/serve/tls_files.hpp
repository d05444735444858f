// SPDX-License-Identifier: Apache-2.0
// Certificates of a server: files, or their contents.
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

/// A certificate with its chain and its key, as PEM.
struct TlsPair {
  std::string certificate = {};
  std::string key = {};
  bool operator==(const TlsPair&) const = default;
};

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
