// SPDX-License-Identifier: Apache-2.0
// Reviews the clients of the endpoint by asking the API server.
#pragma once

#include <memory>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/serve/server.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns a review that lets those clients pass whose bearer token the API server accepts (TokenReview) and
/// whose user may do `verb` on the path as a non-resource URL (SubjectAccessReview). Requests to the server
/// are asynchronous and end after 10 s; they do not use the flow control of `client`, which is that of the
/// controllers, and are bounded by AccessOptions. Responses: 401 without a valid token, 403 without the
/// right, 503 if the API server could not be asked. Thread safety: may be called concurrently.
http::AccessReview make_access_review(const Client& client, std::shared_ptr<const Clock> clock, Log log);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
