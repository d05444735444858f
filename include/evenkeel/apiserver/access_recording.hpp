// SPDX-License-Identifier: Apache-2.0
// Records the rights that the clients of an embedded API server need, for clients in any language.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/access_recorder.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns a function for `on_request` that records the accesses of `user` in `recorder`; those of all users
/// if it is empty. Requests of fault rules that dropped the connection count as well.
EVENKEEL_API std::function<void(const ServedRequest&)> record_accesses(
    std::shared_ptr<AccessRecorder> recorder, std::string user = {});

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
