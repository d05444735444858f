# SPDX-License-Identifier: Apache-2.0
evenkeel_library(testing
  SOURCES ${testing_sources}
  HEADERS ${testing_headers}
  LINK evenkeel::runtime evenkeel::coordination evenkeel::apiserver
  PRIVATE_LINK $<BUILD_INTERFACE:Boost::headers> OpenSSL::SSL OpenSSL::Crypto)

# The real control plane and the stand-in for etcd as programs.
add_executable(evenkeel-control-plane programs/control_plane/main.cpp programs/common/program.cpp)
add_executable(evenkeel-etcd programs/etcd/main.cpp programs/common/program.cpp)
foreach(program evenkeel-control-plane evenkeel-etcd)
  target_link_libraries(${program} PRIVATE evenkeel_warnings evenkeel::testing CLI11::CLI11)
  target_include_directories(${program} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${program} PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
  evenkeel_compile_in_batches(${program} 8)
endforeach()
