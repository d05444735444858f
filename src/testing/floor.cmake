# SPDX-License-Identifier: Apache-2.0
set(testing_headers)
set(testing_sources)
