# User options, and the flags of all our targets.
include(CMakeDependentOption)
option(SKUA_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
set(uses_internals ${PROJECT_IS_TOP_LEVEL})
if(BUILD_SHARED_LIBS)
  set(uses_internals OFF)  # which a shared library does not export
endif()
option(SKUA_BUILD_TESTS "Build the tests" ${uses_internals})
option(SKUA_BUILD_CLI "Build the skua command" ${uses_internals})
cmake_dependent_option(SKUA_BUILD_BENCH "Build the benchmark servers, which need epoll" ${uses_internals}
                       "CMAKE_SYSTEM_NAME STREQUAL Linux" OFF)
option(SKUA_BUILD_FUZZ "Build the fuzz targets" OFF)
if(BUILD_SHARED_LIBS AND (SKUA_BUILD_TESTS OR SKUA_BUILD_CLI OR SKUA_BUILD_BENCH OR SKUA_BUILD_FUZZ))
  message(FATAL_ERROR "a shared skua exports its public API only: with BUILD_SHARED_LIBS=ON the tests, the command, "
                      "the benchmark servers and the fuzz targets are OFF")
endif()
option(SKUA_INSTALL "Install the library and what was built with it" ${PROJECT_IS_TOP_LEVEL})
option(SKUA_STATIC_PROGRAMS "Link programs statically, so that they run on any Linux of the same architecture" OFF)
if(SKUA_STATIC_PROGRAMS)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
endif()
option(SKUA_WERROR "Treat warnings as errors" ${PROJECT_IS_TOP_LEVEL})
option(SKUA_HARDEN "Bounds checks of the standard library, FORTIFY, stack protector, full RELRO" ON)
option(SKUA_UNITY "Compile several files of a folder as one unit, in a third of the time" OFF)
set(SKUA_SANITIZE "" CACHE STRING "Value for -fsanitize=: address,undefined or thread")
set(SKUA_TEST_FOLDERS "" CACHE STRING "Folders of src/ and tests/ whose tests are built; empty means all")
set(SKUA_WITH_IO_URING AUTO CACHE STRING "io_uring back end: AUTO, ON or OFF")
set(SKUA_WITH_TLS AUTO CACHE STRING "OpenSSL, for TLS, digests and encrypted cookies: AUTO, ON or OFF")
set(SKUA_WITH_ZLIB AUTO CACHE STRING "gzip and deflate: AUTO, ON or OFF")
set(SKUA_WITH_BROTLI AUTO CACHE STRING "brotli: AUTO, ON or OFF")
set(SKUA_WITH_ZSTD AUTO CACHE STRING "zstd: AUTO, ON or OFF")
set(SKUA_WITH_EXPAT AUTO CACHE STRING "expat, for WebDAV: AUTO, ON or OFF")
set(SKUA_REDIS AUTO CACHE STRING "The Redis client, which needs no other library: AUTO (as ON), ON or OFF")
set_property(CACHE SKUA_REDIS PROPERTY STRINGS AUTO ON OFF)
set(SKUA_JUDGE ON CACHE STRING "nghttp2, which behaviour tests compare our HTTP/2 with: ON or OFF")
set(SKUA_LIBRARIES IO_URING TLS ZLIB BROTLI ZSTD EXPAT)
foreach(library ${SKUA_LIBRARIES})
  set_property(CACHE SKUA_WITH_${library} PROPERTY STRINGS AUTO ON OFF)
endforeach()

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if((CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12) OR
   (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16))
  message(FATAL_ERROR "skua needs at least GCC 12 or Clang 16, found ${CMAKE_CXX_COMPILER_ID} "
                      "${CMAKE_CXX_COMPILER_VERSION}; set CXX, for example CXX=g++-12")
endif()

# Use ccache if it is installed and no other launcher was chosen.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(SKUA_CCACHE ccache)
  mark_as_advanced(SKUA_CCACHE)
  if(SKUA_CCACHE)
    # Relative paths let checkouts share the cache. Precompiled headers need the sloppiness.
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
        CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")  # see skua_summarize_headers(); the default names the header, too
      list(APPEND CMAKE_CXX_COMPILER_LAUNCHER CCACHE_PCH_EXTSUM=1)
      set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -Xclang -include-pch -Xclang <PCH_FILE>)
    endif()
    # A compiler that is a script of the checkout has its time; its text, with the version in it, says which one it is.
    cmake_path(IS_PREFIX PROJECT_SOURCE_DIR "${CMAKE_CXX_COMPILER}" NORMALIZE is_script)
    if(is_script)
      list(APPEND CMAKE_CXX_COMPILER_LAUNCHER CCACHE_COMPILERCHECK=content)
    endif()
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ${SKUA_CCACHE})
  endif()
endif()

# The addresses that a position-independent program adds up when it starts take 24 bytes each, or one bit if packed. The
# C library must know how (glibc 2.36); a program then asks for such a one.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS -Wl,--fatal-warnings,-z,pack-relative-relocs)
check_cxx_source_compiles("#include <features.h>
#if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 36)
#error
#endif
int main() {}" SKUA_PACKS_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

# Cheap enough for every build: the checks are cold branches. FORTIFY needs optimisation, and would
# hide errors from the sanitizers, which see more.
function(skua_harden target)
  target_compile_definitions(${target} PRIVATE _GLIBCXX_ASSERTIONS)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A failed libstdc++ check prints the file, the line and the condition. The function names,
    # with all template arguments, would add 26 kB to a small server.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-D__PRETTY_FUNCTION__="">)
  endif()
  if(SKUA_SANITIZE OR WIN32)
    return()
  endif()
  target_compile_options(${target} PRIVATE -fstack-protector-strong
    $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE" AND NOT APPLE)
    target_link_options(${target} PRIVATE -Wl,-z,relro,-z,now)
  endif()
endfunction()

# Flags for our own code; a consumer's targets are left alone.
function(skua_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  if(MSVC)
    target_compile_options(${target} PRIVATE /W4 /utf-8 /permissive- /bigobj /Zc:__cplusplus
                           /Zc:preprocessor)
  else()
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
  endif()
  if(WIN32)
    # Windows 10 and newer; <windows.h> without the macros min, max and ERROR, and without old sockets.
    target_compile_definitions(${target} PRIVATE _WIN32_WINNT=0x0A00 WIN32_LEAN_AND_MEAN NOMINMAX NOGDI)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 at -O3 warns falsely about overlaps in std::string and dangling nodes in intrusive rings
    # (gcc.gnu.org/PR105329, PR104475).
    target_compile_options(${target} PRIVATE -Wno-restrict -Wno-dangling-pointer)
  endif()
  if(SKUA_WERROR)
    target_compile_options(${target} PRIVATE $<IF:$<BOOL:${MSVC}>,/WX,-Werror>)
  endif()
  if(SKUA_HARDEN)
    skua_harden(${target})
  endif()
  if(NOT SKUA_SANITIZE AND NOT APPLE AND NOT MSVC)
    # The linker drops unused functions and data from each program.
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-ffunction-sections;-fdata-sections>)
    target_link_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Wl,--gc-sections>)
    if(SKUA_PACKS_RELOCATIONS)
      target_link_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-Wl,-z,pack-relative-relocs>)
    endif()
  endif()
  if(SKUA_SANITIZE)
    target_compile_options(${target} PUBLIC -fsanitize=${SKUA_SANITIZE} -fno-sanitize-recover=all
                                            -fno-omit-frame-pointer)
    target_link_options(${target} PUBLIC -fsanitize=${SKUA_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # GCC 12 warns falsely about reads of inactive std::variant alternatives, but only here.
      target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
    else()
      # Clang's check needs a pipe, and reports a wrong type if no descriptors are left.
      target_compile_options(${target} PUBLIC -fno-sanitize=vptr)
    endif()
  endif()
endfunction()
