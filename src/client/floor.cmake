# SPDX-License-Identifier: Apache-2.0
set(client_headers config.hpp errors.hpp)
set(client_sources config.cpp errors.cpp files.cpp kubeconfig.cpp)
