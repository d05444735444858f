// SPDX-License-Identifier: Apache-2.0
// Compresses the objects of one collection.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include <evenkeel/cache/wire_object.hpp>

#include "cache/wire_packing.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Compresses wire objects with a dictionary that is trained on the first of them, which stay as they are
/// until they are packed again. Objects of one kind are so much alike that a dictionary makes them several
/// times smaller than each alone would be.
/// Thread safety: one thread at a time.
class ObjectPacker {
 public:
  static constexpr std::size_t wanted_samples = 256;
  static constexpr std::size_t max_sample_bytes = std::size_t{4} << 20;
  static constexpr std::size_t least_samples = 8;

  ObjectPacker();

  /// Returns the compressed form of an object; the object itself if it is compressed already, has no JSON,
  /// or is needed to train the dictionary.
  WireObject pack(WireObject object);
  /// Packs the objects of a whole collection, with a dictionary trained on those seen so far if they are no
  /// fewer than least_samples.
  void pack_all(std::vector<WireObject>& objects);

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  };

  void add_sample(const WireObject& object);
  void train();
  WireObject compress(const WireObject& object);

  const std::unique_ptr<ZSTD_CCtx, Free> context_;
  std::string samples_;
  std::vector<std::size_t> sample_sizes_;
  bool trained_ = false;
  Counted<ObjectDictionary> dictionary_;  // empty if the samples were of no use
  std::string buffer_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
