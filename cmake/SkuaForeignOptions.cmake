# Options that other projects have: ENABLE_ASAN=ON would otherwise build without a sanitizer, and say so in a warning that
# nobody reads. They are for the top level only: a project that skua is a part of has its own.
if(NOT PROJECT_IS_TOP_LEVEL)
  return()
endif()

# Those with a meaning here set the option of ours, unless that is set, too.
foreach(name EXAMPLES TESTS)
  if(NOT DEFINED BUILD_${name})
    continue()
  endif()
  if(DEFINED SKUA_BUILD_${name} AND NOT "$CACHE{SKUA_FROM_BUILD_${name}}")
    message(STATUS "BUILD_${name} is ignored: SKUA_BUILD_${name} is ${SKUA_BUILD_${name}}")
  else()
    set(SKUA_FROM_BUILD_${name} ON CACHE INTERNAL "SKUA_BUILD_${name} follows BUILD_${name}")
    set(SKUA_BUILD_${name} ${BUILD_${name}} CACHE BOOL "Set by BUILD_${name}" FORCE)
    message(STATUS "BUILD_${name}=${BUILD_${name}} is taken for SKUA_BUILD_${name}")
  endif()
endforeach()
if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING AND NOT DEFINED SKUA_BUILD_TESTS)
  set(SKUA_BUILD_TESTS OFF CACHE BOOL "Set by BUILD_TESTING")
endif()

# A sanitizer that is asked for and missing must not look like one that has found nothing.
foreach(wish "ASAN address,undefined" "UBSAN undefined" "TSAN thread" "MSAN memory" "SANITIZERS address,undefined")
  separate_arguments(wish)
  list(GET wish 0 name)
  list(GET wish 1 value)
  foreach(option ENABLE_${name} USE_${name} WITH_${name} SANITIZE_${name})
    if(${option} AND NOT SKUA_SANITIZE)
      message(FATAL_ERROR "${option} is not an option of skua: write -DSKUA_SANITIZE=${value}, or use a preset (cmake --preset asan)")
    endif()
  endforeach()
endforeach()
