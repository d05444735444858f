// SPDX-License-Identifier: Apache-2.0
#include "coordination/foundationdb/url.hpp"

#include <stdexcept>
#include <string>

#include <evenkeel/http/message.hpp>

#include "base/shown_url.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {
namespace {

constexpr std::string_view root_query = "root=";

}  // namespace

FoundationDbStoreOptions fdb_options(std::string_view url, const StoreUrlOptions& options) {
  FoundationDbStoreOptions fdb{.root = options.root};
  if (options.timeout) fdb.timeout = *options.timeout;
  const std::string_view path = url.substr(fdb_scheme.size());
  const std::size_t question = path.find('?');
  fdb.cluster_file = path.substr(0, question);
  if (question == std::string_view::npos) return fdb;
  const std::string_view query = path.substr(question + 1);
  if (!query.starts_with(root_query)) {
    throw std::invalid_argument(evenkeel::detail::shown_url(url) +
                                ": after the cluster file only ?root=ROOT is allowed; the form is "
                                "fdb://CLUSTER_FILE[?root=ROOT]");
  }
  fdb.root = http::percent_decode(query.substr(root_query.size()));
  return fdb;
}

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
