// SPDX-License-Identifier: Apache-2.0
// A store from a line of text, for flags: --store=etcd://127.0.0.1:2379.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/http/tls.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// What the URL does not say. Unset: each backend's own default.
struct StoreUrlOptions {
  std::string root = {};                 ///< Of all keys, as Layout has it; kube:// needs it.
  http::TlsOptions tls = {};             ///< Of etcds://.
  std::optional<Duration> timeout = {};  ///< For one request to etcd, one transaction of Kubernetes.
  std::string kubeconfig = {};           ///< Of kube://: a file; empty: as load_config() finds one.
  /// Sends user name and password of etcd://USER:PASSWORD@HOST over plain http to another machine, too.
  /// Default: such a URL is refused.
  bool credentials_in_clear = false;
};

/// - "etcd://HOST:PORT[,HOST:PORT...]", "etcds://USER:PASSWORD@HOST:PORT": see etcd_options();
/// - "kube://[CONTEXT/]NAMESPACE/NAME": ConfigMaps, one for each scope; with "?objects=one" one for all;
/// - "memory:": of this process alone, for tests.
/// Asks nothing of the store yet. Throws std::invalid_argument for what is none of these, with the forms and
/// without a password; ConfigError for a kubeconfig that cannot be used.
EVENKEEL_API std::shared_ptr<Store> open_store(std::string_view url, const StoreUrlOptions& options = {});

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
