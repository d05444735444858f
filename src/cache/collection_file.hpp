// SPDX-License-Identifier: Apache-2.0
// A file with a copy of one collection, from which a cache resumes after a restart.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Server, kind and selection of a collection.
struct CollectionIdentity {
  std::string server = {};  ///< URL.
  ResourceId resource = {};
  std::string namespace_ = {};  ///< Empty: all namespaces.
  std::string label_selector = {};
  std::string field_selector = {};
};

/// The whole objects of a collection at a resourceVersion.
struct CollectionCopy {
  std::string version = {};
  std::vector<WireObject> objects = {};
};

/// A file that is not a copy of the collection; the message names the file.
class CollectionFileError : public Error {
 public:
  using Error::Error;
};

/// Reads and writes the copy of one collection: length-prefixed records (identity, resourceVersion, number of
/// objects, the JSON of each) in one zstd frame with a checksum. The file replaces an older one atomically,
/// and can be read and written by its owner only.
/// Thread safety: const members may be called concurrently; two writers of one file need a lock.
class CollectionFile {
 public:
  /// `directory` must exist when write() is called.
  CollectionFile(const std::filesystem::path& directory, CollectionIdentity identity);

  struct ReadOptions {
    std::size_t max_bytes = 0;  ///< Limit of the memory of all objects.
    /// Returns the form in which an object is kept; empty: as it is.
    std::function<WireObject(WireObject)> keep = {};
  };

  const std::filesystem::path& path() const noexcept { return path_; }
  /// Returns the copy; nothing if there is no file. Throws CollectionFileError for a file that is damaged, of
  /// another collection or in another format, or that holds more than options.max_bytes of objects.
  std::optional<CollectionCopy> read(const ReadOptions& options) const;
  /// Replaces the file. Returns its size, or nothing if it would be larger than `max_bytes`: there is no file
  /// then. Throws CollectionFileError if it cannot be written.
  std::optional<std::size_t> write(std::string_view version, const StoreSnapshot& objects,
                                   std::size_t max_bytes) const;

 private:
  const CollectionIdentity identity_;
  const std::string identity_text_;
  const std::filesystem::path path_;
};

/// The end of the names of such files.
inline constexpr std::string_view collection_file_suffix = ".evenkeel-cache";

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
