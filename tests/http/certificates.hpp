// SPDX-License-Identifier: Apache-2.0
// Certificates generated at run time, so that no key is in the repository and none expires.
#pragma once

#include <memory>
#include <string>

namespace evenkeel::tests {

struct Pem {
  std::string cert;
  std::string key;
};

/// A private certificate authority.
class Authority {
 public:
  explicit Authority(const std::string& common_name);
  ~Authority();
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;

  std::string pem() const;
  /// Returns a server certificate for `names`, in the notation of subjectAltName:
  /// "DNS:localhost,IP:127.0.0.1".
  Pem issue_server(const std::string& names) const;
  /// Returns a client certificate for `user`.
  Pem issue_client(const std::string& user) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace evenkeel::tests
