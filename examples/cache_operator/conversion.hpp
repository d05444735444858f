// SPDX-License-Identifier: Apache-2.0
// Conversion between v1alpha1 and v1, without loss: what v1alpha1 has no field for is kept in an annotation.
#pragma once

#include "memcached_v1.hpp"
#include "memcached_v1alpha1.hpp"

namespace cache_operator {

/// Annotation of objects in v1alpha1: the spec in v1, as JSON.
inline constexpr std::string_view v1_spec_annotation = "cache.evenkeel.dev/v1-spec";

void to_v1(const v1alpha1::Memcached& from, v1::Memcached& to);
void to_v1alpha1(const v1::Memcached& from, v1alpha1::Memcached& to);

ek::Conversion memcached_conversion();

}  // namespace cache_operator
