# SPDX-License-Identifier: Apache-2.0
set(webhook_headers admission.hpp answer.hpp certificate_options.hpp configuration.hpp conversion.hpp validation_result.hpp webhook.hpp
  webhook_server.hpp)
set(webhook_sources admission.cpp answer.cpp bundle_injector.cpp certificate_keeper.cpp certificate_plan.cpp configuration.cpp
  conversion.cpp review.cpp validation_result.cpp webhook.cpp webhook_meter.cpp webhook_server.cpp x509.cpp)
