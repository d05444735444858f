# SPDX-License-Identifier: Apache-2.0
find_package(Boost REQUIRED)
evenkeel_library(testing
  SOURCES ${testing_sources}
  HEADERS ${testing_headers}
  LINK evenkeel::client
  PRIVATE_LINK Boost::headers OpenSSL::SSL OpenSSL::Crypto)
target_include_directories(evenkeel_testing PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
