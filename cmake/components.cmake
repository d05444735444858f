# SPDX-License-Identifier: Apache-2.0
# The libraries and what each needs: the one table behind the build, find_package's components and the .pc files.
#   evenkeel_needs_NAME     libraries of ours that its interface is made of
#   evenkeel_packages_NAME  packages that a program needs at its link if the library is static
#   evenkeel_modules_NAME   the same, as pkg-config's modules
# A library stands behind those that it needs.
set(evenkeel_components workqueue metrics client tracing serve election coordination foundationdb runtime process_groups
  apiserver testing)

set(evenkeel_needs_workqueue "")
set(evenkeel_needs_metrics workqueue)
set(evenkeel_needs_client workqueue)
set(evenkeel_needs_tracing client)
set(evenkeel_needs_serve client)
set(evenkeel_needs_election client)
set(evenkeel_needs_coordination client)
set(evenkeel_needs_foundationdb coordination)
set(evenkeel_needs_apiserver serve)
set(evenkeel_needs_runtime election metrics serve tracing)
set(evenkeel_needs_process_groups coordination runtime)
set(evenkeel_needs_testing runtime coordination apiserver)

set(evenkeel_packages_client CURL simdjson yaml-cpp OpenSSL ZLIB)
set(evenkeel_packages_serve OpenSSL)
set(evenkeel_packages_apiserver OpenSSL libyaml re2 yaml-cpp ZLIB)
set(evenkeel_packages_foundationdb FoundationDB)
set(evenkeel_packages_runtime simdjson spdlog yaml-cpp OpenSSL zstd boost_context)
set(evenkeel_packages_testing OpenSSL)

set(evenkeel_modules_client libcurl simdjson yaml-cpp libssl libcrypto zlib)
set(evenkeel_modules_serve libssl libcrypto)
set(evenkeel_modules_apiserver libssl libcrypto re2 yaml-0.1 yaml-cpp zlib)
set(evenkeel_modules_runtime simdjson spdlog yaml-cpp libssl libcrypto libzstd)
set(evenkeel_modules_testing libssl libcrypto)

# evenkeel_closure(OUT NAME...): the named libraries and those that they need, in the order of evenkeel_components.
function(evenkeel_closure out)
  set(wanted ${ARGN})
  set(ordered "")
  set(backwards ${evenkeel_components})
  list(REVERSE backwards)
  foreach(name IN LISTS backwards)
    if(name IN_LIST wanted)
      list(PREPEND ordered ${name})
      list(APPEND wanted ${evenkeel_needs_${name}})
    endif()
  endforeach()
  set(${out} "${ordered}" PARENT_SCOPE)
endfunction()
