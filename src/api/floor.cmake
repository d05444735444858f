# SPDX-License-Identifier: Apache-2.0
set(api_headers
  attributes.hpp bytes.hpp codec.hpp crd.hpp detail/each.hpp detail/field_checks.hpp dynamic.hpp fields.hpp int_or_string.hpp json.hpp kinds.hpp metadata.hpp
  patch.hpp
  quantity.hpp resource.hpp selector.hpp snapshot.hpp time.hpp nlohmann.hpp
  kinds/apiextensions.hpp kinds/apps.hpp kinds/autoscaling.hpp kinds/batch.hpp kinds/coordination.hpp
  kinds/core.hpp kinds/events.hpp kinds/networking.hpp kinds/pods.hpp kinds/policy.hpp kinds/rbac.hpp)
set(api_sources
  bytes.cpp crd.cpp decode.cpp dynamic.cpp encode.cpp int_or_string.cpp json.cpp metadata.cpp overlay.cpp
  patch.cpp quantity.cpp selector.cpp snapshot.cpp strategic_patch.cpp time.cpp yaml_scalar.cpp yaml_writer.cpp
  kinds/apiextensions.cpp kinds/apps.cpp kinds/autoscaling.cpp kinds/batch.cpp kinds/coordination.cpp
  kinds/core.cpp kinds/events.cpp kinds/networking.cpp kinds/pods.cpp kinds/policy.cpp kinds/rbac.cpp)
