# SPDX-License-Identifier: Apache-2.0
# Compiles SOURCE by COMPILE with -DREJECTED=VARIANT and compares what the compiler says with the source's lines
# "// expect: REGEX" (variant 1; each must match somewhere), "// expect of TYPE: REGEX" (likewise, in the error about
# the description of TYPE) or "// first N: REGEX" (the first error).
execute_process(COMMAND ${COMPILE} -DREJECTED=${VARIANT} ${SOURCE} RESULT_VARIABLE code ERROR_VARIABLE said)
if(code EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles with -DREJECTED=${VARIANT}")
endif()
if(KIND STREQUAL "first")
  string(REGEX MATCH "error: [^\n]*" said "${said}")
  file(STRINGS ${SOURCE} expectations REGEX "^// first ${VARIANT}: ")
else()
  file(STRINGS ${SOURCE} expectations REGEX "^// expect( of [A-Za-z]+)?: ")
endif()
foreach(line IN LISTS expectations)
  string(REGEX REPLACE "^// (expect|expect of [A-Za-z]+|first [0-9]+): " "" expected "${line}")
  if(line MATCHES "^// expect of ([A-Za-z]+): ")
    # g++ names the type two lines before the error, clang in a note after it.
    set(type "CheckedRecord<${CMAKE_MATCH_1},[^\n]*\n")
    set(expected "${type}[^\n]*\n[^\n]*error: [^\n]*${expected}|${expected}[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*${type}")
  endif()
  if(NOT said MATCHES "${expected}")
    message(FATAL_ERROR "expected: ${expected}\nthe compiler says:\n${said}")
  endif()
endforeach()
