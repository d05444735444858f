// SPDX-License-Identifier: Apache-2.0
#include "client/pods/exec_request.hpp"

#include <stdexcept>
#include <utility>

#include "client/request/requests.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

template <class Options>
RestRequest request_of(const ObjectKey& pod, const Options& options, std::string subresource) {
  RestRequest request =
      object_request(http::Method::get, {"", "v1", "Pod", "pods"}, pod, std::move(subresource));
  if (!options.container.empty()) request.query.emplace_back("container", options.container);
  const auto add = [&](const char* name, bool wanted) {
    if (wanted) request.query.emplace_back(name, "true");
  };
  add("stdin", options.with_stdin);
  add("stdout", options.with_stdout);
  add("stderr", options.with_stderr && !options.tty);  // the server rejects both
  add("tty", options.tty);
  return request;
}

}  // namespace

// The older one is spoken by API servers before 1.30, which pass the request on to the node.
const std::vector<std::string>& exec_protocols() {
  static const std::vector<std::string> protocols{std::string(exec_protocol_with_end), "v4.channel.k8s.io"};
  return protocols;
}

RestRequest exec_request(const ObjectKey& pod, const ExecOptions& options) {
  if (options.command.empty()) throw std::invalid_argument("ExecOptions.command: must not be empty");
  RestRequest request = request_of(pod, options, "exec");
  for (const std::string& word : options.command) request.query.emplace_back("command", word);
  return request;
}

RestRequest attach_request(const ObjectKey& pod, const AttachOptions& options) {
  return request_of(pod, options, "attach");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
