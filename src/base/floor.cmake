# SPDX-License-Identifier: Apache-2.0
set(base_headers error.hpp export.hpp log.hpp object_key.hpp time.hpp)
set(base_sources)
