// SPDX-License-Identifier: Apache-2.0
// Reading and answering reviews: the parts that admission and conversion have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

enum class Presence : std::uint8_t { optional, required };

/// Returns member `name` of the object at `path`; null if it may be absent and is. Throws DecodeError that
/// names document and field if it is missing or of another kind.
const Json& field(const Json& parent, std::string_view document, std::string_view path, std::string_view name,
                  Presence presence, Json::Kind kind);

/// Throws DecodeError unless `review` is a `kind` of version v1 of `group`.
void check_review(const Json& review, std::string_view kind, std::string_view group);

/// Reads the JSON body of a POST. Throws RefusedReview, also if it has more than `max_values` values.
Json read_body(const http::Request& request, std::string_view name, std::size_t max_values);

/// A request that is answered with an HTTP error.
class RefusedReview : public Error {
 public:
  RefusedReview(int code, const std::string& what) : Error(what), code_(code) {}
  int code() const noexcept { return code_; }

 private:
  int code_;
};

http::Response json_answer(const Json& document);
http::Response text_answer(int code, const std::string& text);

/// Returns the meta/v1 Status of an error, as part of an answer.
Json status_document(const Status& status);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
