// SPDX-License-Identifier: Apache-2.0
#include "cache/object_packer.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <zdict.h>

#include <evenkeel/base/error.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr int level = 3;
constexpr std::size_t dictionary_bytes = std::size_t{32} << 10;
/// Part of an object that the dictionary sees.
constexpr std::size_t max_sample = std::size_t{32} << 10;

}  // namespace

ObjectPacker::ObjectPacker() : context_(ZSTD_createCCtx()) {
  if (!context_) throw Error("cannot compress objects: out of memory");
}

WireObject ObjectPacker::pack(WireObject object) {
  if (!object || object.form() != WireForm::whole) return object;
  if (!trained_) {
    add_sample(object);
    if (sample_sizes_.size() < wanted_samples && samples_.size() < max_sample_bytes) return object;
    train();
  }
  return compress(object);
}

void ObjectPacker::pack_all(std::vector<WireObject>& objects) {
  if (!trained_ && sample_sizes_.size() >= least_samples) train();
  if (!trained_) return;
  for (WireObject& object : objects) object = pack(std::move(object));
}

void ObjectPacker::add_sample(const WireObject& object) {
  const std::string_view sample = object.raw().substr(0, max_sample);
  samples_ += sample;
  sample_sizes_.push_back(sample.size());
}

void ObjectPacker::train() {
  trained_ = true;
  std::string text(std::min(dictionary_bytes, samples_.size() / 4), '\0');
  const std::size_t size =
      ZDICT_trainFromBuffer(text.data(), text.size(), samples_.data(), sample_sizes_.data(),
                            static_cast<unsigned>(sample_sizes_.size()));
  if (ZDICT_isError(size) == 0)
    dictionary_ =
        Counted<ObjectDictionary>(new ObjectDictionary(std::string_view(text).substr(0, size), level));
  samples_ = std::string();
  sample_sizes_ = std::vector<std::size_t>();
}

WireObject ObjectPacker::compress(const WireObject& object) {
  const std::string_view raw = object.raw();
  const std::size_t bound = ZSTD_compressBound(raw.size());
  if (buffer_.size() < bound || buffer_.size() > (std::size_t{1} << 20) + 2 * bound)
    buffer_ = std::string(bound, '\0');
  const std::size_t size =
      dictionary_
          ? ZSTD_compress_usingCDict(context_.get(), buffer_.data(), buffer_.size(), raw.data(), raw.size(),
                                     dictionary_->compressing())
          : ZSTD_compressCCtx(context_.get(), buffer_.data(), buffer_.size(), raw.data(), raw.size(), level);
  if (ZSTD_isError(size) != 0)
    throw Error(object.what() + ": cannot compress it: " + ZSTD_getErrorName(size));
  return WirePacking::compress(object, std::string_view(buffer_).substr(0, size), dictionary_);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
