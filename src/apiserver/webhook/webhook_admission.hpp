// SPDX-License-Identifier: Apache-2.0
// Admission by webhooks. A call that has no answer yet ends the handling of the request: it begins again when
// the answer is there, and so holds nothing meanwhile.
// Source: apiserver pkg/admission/plugin/webhook/mutating, validating.
#pragma once

#include "apiserver/request/write_options.hpp"
#include "apiserver/webhook/webhook.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Returns true if any webhook is configured.
bool has_webhooks(Storage& storage);

/// Lets mutating webhooks change `object` (null on a delete). Throws WebhookNeeded, and StatusError if one
/// denies it or fails. Returns true if it was changed; it then has the canonical form.
bool mutate_by_webhooks(Call& call, const AdmissionEvent& event, Json& object);
/// Asks validating webhooks. Throws like mutate_by_webhooks().
void validate_by_webhooks(Call& call, const AdmissionEvent& event, const Json& object);

/// Returns the event of a create or update; `options_kind` is that of its options.
AdmissionEvent admission_event(const Call& call, std::string operation, std::string_view options_kind,
                               bool dry_run);

/// Asks all webhooks about the deletion of an object.
void admit_deletion(Call& call, const DeleteOptions& options, Json old);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
