# SPDX-License-Identifier: Apache-2.0
set(http_headers message.hpp transport.hpp)
set(http_sources)
