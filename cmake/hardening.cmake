# SPDX-License-Identifier: Apache-2.0
# EVENKEEL_HARDENING: flags for our own libraries and programs in optimised configurations. They belong to this
# directory, so neither a project around us nor one that uses what is installed is given them.
# A build type of one's own (None) is left to the flags that its owner sets, as distributions do.
set(evenkeel_hardened "$<CONFIG:Release,RelWithDebInfo,MinSizeRel>")
set(evenkeel_optimises OFF)
if(CMAKE_CONFIGURATION_TYPES OR CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  set(evenkeel_optimises ON)
endif()

# evenkeel_harden_compiler(FLAG...), evenkeel_harden_linker(FLAG...): those flags that compiler and linker take.
function(evenkeel_harden_compiler)
  foreach(flag IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "EVENKEEL_TAKES${flag}" known)
    check_cxx_compiler_flag(${flag} ${known})
    if(${known})
      add_compile_options("$<${evenkeel_hardened}:${flag}>")
    endif()
  endforeach()
endfunction()
function(evenkeel_harden_linker)
  foreach(flag IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "EVENKEEL_TAKES${flag}" known)
    check_linker_flag(CXX ${flag} ${known})
    if(${known})
      add_link_options("$<${evenkeel_hardened}:${flag}>")
    endif()
  endforeach()
endfunction()

if(EVENKEEL_HARDENING AND evenkeel_optimises AND NOT EVENKEEL_SANITIZE)
  include(CheckCXXCompilerFlag)
  include(CheckCXXSourceCompiles)
  include(CheckLinkerFlag)
  include(CheckPIESupported)

  evenkeel_harden_compiler(-fstack-protector-strong -fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
    evenkeel_harden_compiler(-fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    evenkeel_harden_compiler(-mbranch-protection=standard)
  endif()
  add_compile_options("$<${evenkeel_hardened}:-D_GLIBCXX_ASSERTIONS>")

  # glibc refuses to fortify what is not optimised, with a warning in each file; level 3 wants glibc 2.34 and a
  # compiler that knows sizes which are found out at run time.
  if(NOT "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_RELEASE} ${CMAKE_CXX_FLAGS_RELWITHDEBINFO} ${CMAKE_CXX_FLAGS_MINSIZEREL}"
      MATCHES "-O0")
    set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_cxx_source_compiles("#include <cstring>
      #if !defined __USE_FORTIFY_LEVEL || __USE_FORTIFY_LEVEL < 3
      #error this C library or compiler has no third level
      #endif
      int main() {}" EVENKEEL_TAKES_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    set(evenkeel_fortify 2)
    if(EVENKEEL_TAKES_FORTIFY_3)
      set(evenkeel_fortify 3)
    endif()
    add_compile_options("$<${evenkeel_hardened}:-U_FORTIFY_SOURCE>"
      "$<${evenkeel_hardened}:-D_FORTIFY_SOURCE=${evenkeel_fortify}>")
  endif()

  check_pie_supported(LANGUAGES CXX)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  evenkeel_harden_linker(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
