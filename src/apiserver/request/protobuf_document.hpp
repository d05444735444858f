// SPDX-License-Identifier: Apache-2.0
// Request bodies in the protobuf form that kubectl and typed Go clients send for built-in kinds.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// The media type of such bodies.
inline constexpr std::string_view protobuf_type = "application/vnd.kubernetes.protobuf";

/// Decodes them by the field numbers of data/protobuf_fields.txt. Immutable.
class ProtobufDecoder {
 public:
  ProtobufDecoder();

  /// Returns the document in an envelope (runtime.Unknown behind "k8s\0"), with apiVersion and kind. `type`
  /// is the OpenAPI name of the message; if empty, it is that of the kind in the envelope among meta.k8s.io.
  /// Throws DecodeError for an invalid message.
  Json decode(std::string_view envelope, std::string_view type) const;

 private:
  friend class ProtobufReader;
  std::map<std::string_view, std::string_view> messages_;  // name -> its line of fields
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
