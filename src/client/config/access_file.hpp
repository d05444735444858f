// SPDX-License-Identifier: Apache-2.0
// Files of --access-record. Shared with floors above.
#pragma once

#include <cstdint>
#include <string>

#include <evenkeel/base/export.hpp>
#include <evenkeel/client/access_record.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Treatment of a file that does not exist. A program adds to one that may be missing: it must be its own.
enum class MissingFile : std::uint8_t { error, empty };

/// Returns the record in the file. Throws std::invalid_argument beginning with "--access-record: ".
EVENKEEL_API AccessRecord read_accesses(const std::string& path, MissingFile missing);

/// Adds the accesses to those in the file, which may be missing, and replaces it. `program` made them. Throws
/// like read_accesses(), and Error, beginning likewise, if the file cannot be written.
EVENKEEL_API void write_accesses(const std::string& path, const AccessRecord& accesses,
                                 const std::string& program);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
