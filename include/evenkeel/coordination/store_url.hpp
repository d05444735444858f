// SPDX-License-Identifier: Apache-2.0
// Opens a store by URL, for command-line flags: --store=etcd://127.0.0.1:2379.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/http/tls.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

struct StoreUrlOptions;

/// A scheme that the program adds to those of open_store(). Lifetime: what `open` uses must outlive the call.
struct StoreScheme {
  std::string prefix = {};  ///< Beginning of its URLs, "fdb://".
  std::function<std::shared_ptr<Store>(std::string_view url, const StoreUrlOptions& options)> open = {};
};

/// Options that are not part of the URL. Unset members take the default of the backend.
struct StoreUrlOptions {
  std::string root = {};                 ///< Prefix of all keys, see Layout; required for kube://.
  http::TlsOptions tls = {};             ///< For etcds://.
  std::optional<Duration> timeout = {};  ///< For one request to etcd, or one transaction on Kubernetes.
  std::string kubeconfig = {};           ///< File for kube://; empty: the default rules of load_config().
  /// Sends the user and password of etcd://USER:PASSWORD@HOST over plain http to another machine as well.
  /// Default: such a URL is refused.
  bool credentials_in_clear = false;
  std::vector<StoreScheme> schemes = {};  ///< Further schemes; the first whose prefix fits opens the URL.
};

/// Opens the store that `url` names:
/// - "etcd://HOST:PORT[,HOST:PORT...]", "etcds://USER:PASSWORD@HOST:PORT": see etcd_options();
/// - "kube://[CONTEXT/]NAMESPACE/NAME": one ConfigMap per scope; with "?objects=one", a single ConfigMap;
/// - "memory:": the memory of this process, for tests;
/// - "fdb://CLUSTER_FILE[?root=ROOT]", with FoundationDbNetwork::scheme() among the schemes: an empty
///   CLUSTER_FILE is the default of libfdb_c; ROOT, percent-encoded, replaces StoreUrlOptions::root.
/// Sends no request. Throws std::invalid_argument for any other URL, with a text that lists the forms and
/// contains no password; ConfigError for an unusable kubeconfig.
EVENKEEL_API std::shared_ptr<Store> open_store(std::string_view url, const StoreUrlOptions& options = {});

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
