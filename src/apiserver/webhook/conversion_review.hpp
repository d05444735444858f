// SPDX-License-Identifier: Apache-2.0
// The question to a conversion webhook, and what its answer must be.
// Source: apiextensions-apiserver pkg/apiserver/conversion/webhook_converter.go.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>

#include "apiserver/store/resource_type.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Objects of one kind that its webhook is to convert.
struct ConversionOrder {
  ResourceTypePtr type = {};       ///< Any version of the kind.
  std::string version = {};        ///< The desired one.
  std::vector<Json> objects = {};  ///< In other versions; never empty.
  std::string uid = {};            ///< Uid of the ConversionReview.

  std::string api_version() const { return type->group + "/" + version; }
};

/// The limits of one review: a larger number of objects is converted by several.
inline constexpr std::size_t most_objects_in_a_review = 500;
inline constexpr std::size_t most_bytes_in_a_review = 1U << 20;

/// Returns the call that performs an order. Throws StatusError (500) if it cannot be made.
WebhookCall conversion_call(const ConversionOrder& order);

/// Returns the converted objects, in their order, with what the schema of the version knows. Their metadata
/// is that of the originals except for labels and annotations. Throws StatusError (500).
std::vector<Json> converted_by(const ConversionOrder& order, const WebhookAnswer& answer);

/// Returns true if an answer that is not acceptable came from the webhook and concerns one of several
/// objects: others may be converted without it.
bool is_about_its_objects(const ConversionOrder& order, const WebhookAnswer& answer);

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
