// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <stdexcept>

#include <evenkeel/cache/wire_object.hpp>

#include "cache/wire_block.hpp"
#include "cache/wire_packing.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

WirePair wire_pair(const WireBlock* block, std::size_t at) {
  const WirePairPlaces& places = block->pairs()[at];
  return {block->text(places.name), block->text(places.value)};
}

WireOwner wire_owner(const WireBlock* block, std::size_t at) {
  const WireOwnerPlaces& places = block->owners()[at];
  return {.api_version = block->text(places.api_version),
          .kind = block->text(places.kind),
          .name = block->text(places.name),
          .uid = block->text(places.uid),
          .controller = places.controller != 0};
}

namespace {

void keep(WireBlock* block) noexcept {
  if (block != nullptr) block->handles.fetch_add(1, std::memory_order_relaxed);
}

void drop(WireBlock* block) noexcept {
  // Release pairs with the acquire of the thread that frees: all reads through other handles happen before.
  if (block == nullptr || block->handles.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (!block->is_projected && block->dictionary != nullptr) release(block->dictionary);
  block->~WireBlock();
  ::operator delete(block);
}

template <class Range>
std::optional<std::string_view> value_of(const Range& pairs, std::string_view wanted) noexcept {
  for (const auto& [name, value] : pairs) {
    if (name == wanted) return value;
  }
  return std::nullopt;
}

}  // namespace
}  // namespace detail

WireObject::WireObject(const WireObject& other) noexcept : block_(other.block_) {
  detail::keep(block_);
}

WireObject& WireObject::operator=(const WireObject& other) noexcept {
  if (this == &other) return *this;
  detail::keep(other.block_);
  detail::drop(std::exchange(block_, other.block_));
  return *this;
}

WireObject& WireObject::operator=(WireObject&& other) noexcept {
  if (this != &other) detail::drop(std::exchange(block_, std::exchange(other.block_, nullptr)));
  return *this;
}

WireObject::~WireObject() {
  detail::drop(block_);
}

std::string_view WireObject::api_version() const noexcept {
  return block_->text(block_->api_version);
}
std::string_view WireObject::kind() const noexcept {
  return block_->text(block_->kind);
}
std::string_view WireObject::namespace_() const noexcept {
  return block_->text(block_->namespace_);
}
std::string_view WireObject::name() const noexcept {
  return block_->text(block_->name);
}
std::string_view WireObject::uid() const noexcept {
  return block_->text(block_->uid);
}
std::string_view WireObject::resource_version() const noexcept {
  return block_->text(block_->resource_version);
}
std::int64_t WireObject::generation() const noexcept {
  return block_->generation;
}
bool WireObject::is_being_deleted() const noexcept {
  return block_->being_deleted;
}
ObjectKey WireObject::key() const {
  return {std::string(namespace_()), std::string(name())};
}

WireObject::Pairs WireObject::labels() const noexcept {
  return {block_, 0, block_->label_count};
}
WireObject::Pairs WireObject::annotations() const noexcept {
  return {block_, block_->label_count, block_->annotation_count};
}
WireObject::Owners WireObject::owners() const noexcept {
  return {block_, 0, block_->owner_count};
}

std::optional<std::string_view> WireObject::label(std::string_view name) const noexcept {
  return detail::value_of(labels(), name);
}

std::optional<std::string_view> WireObject::annotation(std::string_view name) const noexcept {
  return detail::value_of(annotations(), name);
}

WireForm WireObject::form() const noexcept {
  if (!block_->has_json) return WireForm::metadata_only;
  if (block_->is_projected) return WireForm::projected;
  return block_->expanded_raw == 0 ? WireForm::whole : WireForm::compressed;
}

std::string_view WireObject::raw() const noexcept {
  return block_ == nullptr || block_->expanded_raw != 0 ? std::string_view() : block_->text(block_->raw);
}
std::size_t WireObject::json_bytes() const noexcept {
  if (block_ == nullptr) return 0;
  return block_->expanded_raw == 0 ? block_->raw.size : block_->expanded_raw;
}
WireObject WireObject::expanded() const {
  const bool compressed = block_ != nullptr && block_->expanded_raw != 0;
  return compressed ? detail::WirePacking::expand(*this) : *this;
}
void WireObject::require(const TypeInfo& type) const {
  if (form() == WireForm::metadata_only) detail::refuse_metadata_only(*this);
  if (!block_->is_projected || Projection(block_->projected).covers(Projection(type))) return;
  throw std::invalid_argument(what() + ": the cache keeps a projection that does not have every member of " +
                              std::string(type.name));
}
void WireObject::require_whole() const {
  if (form() == WireForm::metadata_only) detail::refuse_metadata_only(*this);
  if (block_->is_projected)
    throw std::invalid_argument(what() + ": the cache keeps a projection, which is not the whole object");
}
std::size_t WireObject::bytes() const noexcept {
  return block_ == nullptr ? 0 : block_->bytes;
}

std::string WireObject::what() const {
  std::string text(kind());
  if (!text.empty()) text += ' ';
  if (!namespace_().empty()) text.append(namespace_()) += '/';
  return text.append(name());
}

namespace detail {

PartialObject partial_object(const WireObject& object) {
  PartialObject partial{.api_version = std::string(object.api_version()), .kind = std::string(object.kind())};
  ObjectMeta& metadata = partial.metadata;
  if (object.form() != WireForm::metadata_only)
    return from_json<PartialObject>(object.expanded().raw(), object.what());
  metadata.name = object.name();
  metadata.namespace_ = object.namespace_();
  metadata.uid = object.uid();
  metadata.resource_version = object.resource_version();
  metadata.generation = object.generation();
  for (const auto& [name, value] : object.labels()) metadata.labels.emplace(name, value);
  for (const auto& [name, value] : object.annotations()) metadata.annotations.emplace(name, value);
  for (const WireOwner& owner : object.owners()) {
    OwnerReference reference;
    reference.api_version = owner.api_version;
    reference.kind = owner.kind;
    reference.name = owner.name;
    reference.uid = owner.uid;
    if (owner.controller) reference.controller = true;
    metadata.owner_references.push_back(std::move(reference));
  }
  return partial;
}

void refuse_metadata_only(const WireObject& object) {
  throw std::invalid_argument(object.what() + ": only its metadata is kept; read it as PartialObject");
}

}  // namespace detail

namespace {

bool is_version_number(std::string_view text) noexcept {
  if (text.empty() || (text.size() > 1 && text[0] == '0')) return false;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

}  // namespace

std::optional<std::strong_ordering> compare_resource_versions(std::string_view left,
                                                              std::string_view right) noexcept {
  if (left == right) return std::strong_ordering::equal;
  if (!is_version_number(left) || !is_version_number(right)) return std::nullopt;
  if (left.size() != right.size()) return left.size() <=> right.size();
  return left.compare(right) <=> 0;
}

}  // namespace v0
}  // namespace evenkeel
