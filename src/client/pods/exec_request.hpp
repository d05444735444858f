// SPDX-License-Identifier: Apache-2.0
// Requests for a process in a container, and the subprotocols that are offered.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/pod_exec.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The subprotocol in which a client can end stdin.
inline constexpr std::string_view exec_protocol_with_end = "v5.channel.k8s.io";

const std::vector<std::string>& exec_protocols();
/// Throws std::invalid_argument for options that exclude each other.
RestRequest exec_request(const ObjectKey& pod, const ExecOptions& options);
RestRequest attach_request(const ObjectKey& pod, const AttachOptions& options);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
