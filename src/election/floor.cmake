# SPDX-License-Identifier: Apache-2.0
set(election_headers elector.hpp)
set(election_sources elector.cpp election_core.cpp lease_record.cpp)
