# Targets are found by the location of their files; adding a file needs no change here.
find_package(Threads REQUIRED)
include(SkuaDependencies)
include(SkuaGoogleTest)

# Files that are compiled for size: they run only when a program or a connection begins, ends or fails, or
# nearly all of their time is spent in a library or the kernel. The rest is compiled for speed.
set(SKUA_SMALL
    "async/guarded"
    "base/(disk_.*|error|file_io_.*|http_date|ip_text|system_text_.*|wide_text_windows)"
    "body/(cold_files|outgoing_body|spare_texts)"
    "client/client_metrics"
    "coding/.*" "crypto/.*"
    "h1/(head_parser_sse42|request_line)" "h2/(connection|frame|priority)"
    "http/message/(cause|conditional|field_lines_change|forwarded|partial_content|preconditions|range|request_body|request_origin|trailers)" "http/structured/.*" "http/uri/(authority|masked_query)"
    "loop/(backend|backend_kqueue|backend_poll|finish|loop_life|signal|sockets_posix|user_loop|watch|worker_pool)" "loop/(threads|uring)/.*"
    "net/(address|close_detached|inherited_sockets_.*|interfaces_.*|ip_filter|listener|local_end|log|name_lookup|problem|socket|stream_pump_life|stream_socket|tcp_stream|udp_socket)"
    "operations/(access_log|admin|health|log_file_.*|log_writer|metrics|metrics_text|process_.*|rotation_signal_.*)"
    "redis/(client|cluster|direct|sentinels|settings|slot_map|subscriber|topic_.*|topology)"
    "router/(paths_as_sent|pattern|registration|testing|tree_building)"
    "server/(accept_filter|accounting|connection_life|handler_failure|handler_run|incoming_body|kept_content|resources)"
    "server/(server|server_run|shutdown_signals_.*|worker)" "server/proxies/.*" "server/h1/(exchange|protocol_life)"
    "server/h2/(protocol_life|server_stream_life)"
    "service/.*"
    "sockets/(acceptor|connect|handshake|listener|lookup_threads|proxied_stream|proxy_header|race|resolver|tcp_server|tcp_worker|tls_stream|udp_stream)" "tls/.*"
    "topics/(delivery|hub|message_id|topic_metrics|topics)"
    "ws/(client_handshake|close_code|deflate|extension|handshake_key|message_coding)"
    "ws/(server_handshake|socket_life)")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|aarch64|arm64")
  list(APPEND SKUA_SMALL "h1/head_parser_portable")
endif()

# Code that only programs with WebSockets, trusted proxies or loops on threads of their own link, in units of its own: a compiler that
# sees the only implementation of an interface calls it speculatively at every call of the interface, so every program would link it.
set(SKUA_RARE "/(server/(proxies|websocket)|loop/threads)/")

# Lists the tests that Windows does without: of the kind `file`, which are not compiled, or `test`, which are not run.
function(skua_windows_skips kind variable)
  file(STRINGS ${PROJECT_SOURCE_DIR}/tests/windows_skips.txt skips REGEX "^${kind} ")
  list(TRANSFORM skips REPLACE "^${kind} ([^:]+):.*" "\\1")
  set(${variable} ${skips} PARENT_SCOPE)
endfunction()

# Removes the files of other platforms: the name of a file says if it is for one.
function(skua_platform_files variable)
  set(others windows)
  if(WIN32)
    set(others posix)
    skua_windows_skips(file skips)
    list(TRANSFORM skips PREPEND ${PROJECT_SOURCE_DIR}/)
    list(REMOVE_ITEM ${variable} ${skips})
  endif()
  list(FILTER ${variable} EXCLUDE REGEX "_${others}(_test)?\\.cpp$")
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

# Removes the files of parts that this build does without: SKUA_REDIS is OFF.
function(skua_part_files variable)
  if(SKUA_REDIS STREQUAL "OFF")
    list(FILTER ${variable} EXCLUDE REGEX "/(src|tests)/(redis|resp)(/|$)|/(examples|fuzz)/(redis|resp)[^/]*\\.cpp$")
    set(${variable} ${${variable}} PARENT_SCOPE)
  endif()
endfunction()

# src/**/*.cpp except tests and benchmarks -> library skua (alias skua::skua).
function(skua_library)
  file(GLOB_RECURSE fast CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
  list(FILTER fast EXCLUDE REGEX "_(test|bench)\\.cpp$")
  skua_part_files(fast)
  skua_platform_files(fast)
  set(small)
  foreach(names ${SKUA_SMALL})
    set(named ${fast})
    list(FILTER named INCLUDE REGEX "/src/${names}\\.cpp$")
    list(APPEND small ${named})
  endforeach()
  list(REMOVE_ITEM fast ${small})
  add_library(skua ${small})
  add_library(skua::skua ALIAS skua)
  target_compile_options(skua PRIVATE $<$<CONFIG:Release>:$<IF:$<BOOL:${MSVC}>,/O1,-Os>>)
  # Objects come first in an archive: if both define an inline function, a program gets the fast one.
  add_library(skua-fast OBJECT ${fast})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Code worth vectorising is vectorised by hand; GCC's version is long, and made for more bytes than a field has.
    # A cold part of a function, if apart from it, costs unwind tables that are larger than most such parts.
    target_compile_options(skua-fast PRIVATE
                           "$<$<CONFIG:Release>:-fno-tree-vectorize;-fno-reorder-blocks-and-partition>")
  endif()
  target_sources(skua PRIVATE $<TARGET_OBJECTS:skua-fast>)
  # Until 1.0 a minor release may change the ABI.
  set_target_properties(skua PROPERTIES VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  skua_library_part(skua ${small})
  skua_library_part(skua-fast ${fast})
endfunction()

# Sets up one of the two targets that make up the library; its sources follow.
function(skua_library_part target)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${target} PUBLIC Threads::Threads)
  if(BUILD_SHARED_LIBS)
    # Exports what SKUA_API marks, and nothing else.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                          VISIBILITY_INLINES_HIDDEN ON)
    target_compile_definitions(${target} PRIVATE SKUA_BUILDING)
  else()
    target_compile_definitions(${target} PUBLIC SKUA_STATIC)
  endif()
  if(WIN32)
    target_link_libraries(${target} PUBLIC ws2_32 iphlpapi bcrypt ntdll shell32)
  endif()
  skua_flags(${target})
  skua_unity(${target} ${ARGN})
  foreach(option ${SKUA_LIBRARIES})
    skua_optional(${target} ${option})
  endforeach()
endfunction()

# Compiles the files of a folder in units, in a third of the time. Files with their own compiler
# options stay separate, as does the file that tests replace: see skua_kqueue_emulation.
function(skua_unity target)
  if(NOT SKUA_UNITY)
    return()
  endif()
  set(most 16)
  foreach(source ${ARGN})
    if(source MATCHES "head_parser_(portable|sse42|avx2|neon)|backend_kqueue")
      continue()
    endif()
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    string(REGEX REPLACE "^(src/)?([^/]+)/.*" "\\2" name ${name})
    if(source MATCHES "${SKUA_RARE}")
      set(name ${name}_rare)
    endif()
    if(NOT DEFINED count_${name})
      set(count_${name} 0)
    endif()
    math(EXPR unit "${count_${name}} / ${most}")
    math(EXPR count_${name} "${count_${name}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${target}_${name}_${unit})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC treats the files that a unit includes as headers. Builds without units keep the warning.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# Adds an optional library: SKUA_WITH_<option> is AUTO, ON (missing is an error) or OFF; if it is used,
# SKUA_HAS_<option> is defined.
function(skua_optional target option)
  if(SKUA_WITH_${option} STREQUAL "OFF")
    return()
  endif()
  skua_dependency(${option})
  if(skua_targets)
    target_link_libraries(${target} PRIVATE ${skua_targets})
    target_compile_definitions(${target} PRIVATE SKUA_HAS_${option}=1)
  elseif(SKUA_WITH_${option} STREQUAL "ON")
    message(FATAL_ERROR "SKUA_WITH_${option} is ON, but it was not found (Debian: ${skua_debian})")
  endif()
endfunction()

# Adds an executable that may include the library's internal headers.
function(skua_executable name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE skua)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  if(SKUA_STATIC_PROGRAMS)
    target_link_options(${name} PRIVATE -static)
  endif()
  skua_flags(${name})
endfunction()

# examples/NAME.cpp -> bin/example-NAME, run by examples/examples_test.py if Python is installed
function(skua_examples)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cpp)
  skua_platform_files(sources)
  skua_part_files(sources)
  add_custom_target(examples)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    skua_executable(example-${name} ${source})
    if(name STREQUAL "embedded_files")
      skua_embed_files(example-${name} ${PROJECT_SOURCE_DIR}/examples/site)
    endif()
    add_dependencies(examples example-${name})
    if(SKUA_BUILD_TESTS AND Python3_FOUND AND NOT CMAKE_CROSSCOMPILING)
      add_test(NAME example-${name} COMMAND ${Python3_EXECUTABLE}
               ${PROJECT_SOURCE_DIR}/examples/examples_test.py ${name} $<TARGET_FILE:example-${name}>)
      set_tests_properties(example-${name} PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77 LABELS example)
    endif()
  endforeach()
  # The size of a program that serves one route.
  if(SKUA_BUILD_TESTS AND Python3_FOUND AND CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT SKUA_SANITIZE AND NOT WIN32
     AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    add_test(NAME size-hello COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_binary_size.py
             $<TARGET_FILE:example-hello> 540000)
  endif()
endfunction()

# Links nghttp2, the HTTP/2 implementation that ours is compared with.
function(skua_judge target)
  find_path(SKUA_NGHTTP2_INCLUDE nghttp2/nghttp2.h REQUIRED)
  find_library(SKUA_LIBRARY_nghttp2 nghttp2 REQUIRED)
  mark_as_advanced(SKUA_NGHTTP2_INCLUDE SKUA_LIBRARY_nghttp2)
  target_include_directories(${target} SYSTEM PRIVATE ${SKUA_NGHTTP2_INCLUDE})
  target_link_libraries(${target} PRIVATE ${SKUA_LIBRARY_nghttp2})
endfunction()

# tests/support/*.cpp -> library skua-test-support, linked to every test
function(skua_test_support)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/support/*.cpp)
  # allocations.cpp replaces operator new: only for tests that count allocations.
  list(FILTER sources EXCLUDE REGEX "(_test|/allocations)\\.cpp$")
  if(SKUA_JUDGE)
    list(FILTER sources EXCLUDE REGEX "/http2_client_missing\\.cpp$")
  else()
    list(FILTER sources EXCLUDE REGEX "/http2_client\\.cpp$")
  endif()
  skua_platform_files(sources)
  add_library(skua-test-support STATIC ${sources})
  target_include_directories(skua-test-support PRIVATE ${PROJECT_SOURCE_DIR}/src
                             PUBLIC ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(skua-test-support PUBLIC skua GTest::gtest)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/tests/support/paths.cpp PROPERTIES COMPILE_DEFINITIONS
    "SKUA_SOURCE_DIR=\"${PROJECT_SOURCE_DIR}\";SKUA_BINARY_DIR=\"${PROJECT_BINARY_DIR}\"")
  if(SKUA_JUDGE)
    skua_judge(skua-test-support)
  endif()
  skua_flags(skua-test-support)
endfunction()

# On Linux, tests drive the back end of macOS and the BSDs over a kqueue(2) of their own. The linker takes these
# objects instead of the library's, which only says that Linux has no kqueue.
function(skua_kqueue_emulation)
  if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
    return()
  endif()
  set(folder ${PROJECT_SOURCE_DIR}/tests/support/kqueue)
  add_library(skua-kqueue-emulation OBJECT ${PROJECT_SOURCE_DIR}/src/loop/backend_kqueue.cpp ${folder}/kqueue.cpp)
  target_include_directories(skua-kqueue-emulation SYSTEM PUBLIC ${folder})
  target_include_directories(skua-kqueue-emulation PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  skua_flags(skua-kqueue-emulation)
endfunction()

# Lets checkouts share what Clang compiles with precompiled headers. Those have times and paths in them, so for ccache all
# differ, unless beside them is a sum of what they are made of.
function(skua_summarize_headers target)
  list(TRANSFORM ARGN REPLACE "(.+)" "#include \\1" OUTPUT_VARIABLE lines)
  list(JOIN lines "\n" lines)
  set(all ${PROJECT_BINARY_DIR}/${target}.cpp)
  file(WRITE ${all} "${lines}\n")
  get_target_property(folders GTest::gtest INTERFACE_INCLUDE_DIRECTORIES)
  list(TRANSFORM folders PREPEND -I)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -std=c++20 ${folders} -E -P ${all} OUTPUT_FILE ${all}.i
    COMMAND_ERROR_IS_FATAL ANY)
  file(SHA256 ${all}.i sum)
  file(WRITE ${PROJECT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.pch.sum ${sum})
endfunction()

# Precompiles the headers that nearly every test includes: 4 of the 10 seconds per test. All tests
# have the same flags, so `skua-test-headers` is compiled once.
function(skua_test_headers target)
  if(NOT TARGET skua-test-headers)
    file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cpp "")
    add_library(skua-test-headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(skua-test-headers PRIVATE skua-test-support)
    skua_flags(skua-test-headers)
    skua_test_flags(skua-test-headers)
    set(headers <gtest/gtest.h> <algorithm> <array> <atomic> <chrono> <coroutine> <filesystem> <functional> <memory>
      <mutex> <optional> <span> <string> <string_view> <thread> <utility> <variant> <vector>)
    target_precompile_headers(skua-test-headers PRIVATE ${headers})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND SKUA_CCACHE)
      skua_summarize_headers(skua-test-headers ${headers})
    endif()
  endif()
  target_precompile_headers(${target} REUSE_FROM skua-test-headers)
endfunction()

function(skua_test_flags target)
  if(SKUA_SANITIZE AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Takes half the time. Not with GCC: at -O0 its awaits are separate calls, and the stack grows.
    target_compile_options(${target} PRIVATE -O0)
  elseif(NOT SKUA_SANITIZE)
    # Only the library needs full speed, and FORTIFY needs optimisation.
    target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O0;-U_FORTIFY_SOURCE>")
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # For GCC 12's false warnings see skua_flags.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# Registers a test program as a whole: a process for each of the 4000 tests would take most of the time.
# Programs that wait a lot are split into pieces, which wait in parallel. Behaviour that HTTP/1 shares with
# TLS and HTTP/2 is tested over each transport that skua was built with, see tests/support/transport.hpp;
# suites with their own transport run once, and so does the emulated back end.
function(skua_run_tests target labels)
  set(pieces 1)
  if(target MATCHES "-behaviour$|^test-(tls|client|ws)$")
    set(pieces 4)
  endif()
  skua_run_pieces(${target} "${labels}" ${pieces} "")
  # The protocol makes no difference to threads (ThreadSanitizer is slow), nor does another compiler
  # without a sanitizer.
  if(NOT target MATCHES "^test-(server|middleware|proxy|operations|topics)-behaviour$" OR SKUA_SANITIZE MATCHES "thread"
     OR NOT (CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR SKUA_SANITIZE MATCHES "address"))
    return()
  endif()
  get_target_property(definitions skua COMPILE_DEFINITIONS)
  if("SKUA_HAS_TLS=1" IN_LIST definitions)
    skua_run_pieces(${target} "${labels}" ${pieces} tls)
  endif()
  if("SKUA_HAS_TLS=1" IN_LIST definitions)
    skua_run_pieces(${target} "${labels}" ${pieces} h2-tls)
  endif()
  if(NOT SKUA_SANITIZE AND SKUA_JUDGE)  # h2-tls runs the same code
    skua_run_pieces(${target} "${labels}" ${pieces} h2)
  endif()
endfunction()

function(skua_run_pieces target labels pieces transport)
  set(environment GTEST_BRIEF=1 GTEST_TOTAL_SHARDS=${pieces})
  set(suffix "")
  if(transport)
    list(APPEND environment SKUA_TEST_TRANSPORT=${transport}
         "GTEST_FILTER=-*Cases*:*Budget*:*Life*:*/Http2*:*/Tls*:*/Misdirected*:*/Kqueue*")
    set(suffix ".${transport}")
  endif()
  if(WIN32)
    skua_windows_skips(test skips)
    list(JOIN skips ":" skips)
    list(APPEND environment "GTEST_FILTER=-${skips}")
  endif()
  math(EXPR last "${pieces} - 1")
  foreach(piece RANGE ${last})
    set(name ${target}${suffix})
    if(pieces GREATER 1)
      string(APPEND name ".${piece}")
    endif()
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT 400 LABELS "${labels}"
                         ENVIRONMENT "${environment};GTEST_SHARD_INDEX=${piece}")
  endforeach()
endfunction()

# src/FOLDER/*_test.cpp -> test-FOLDER; tests/FOLDER/*_test.cpp -> test-FOLDER-behaviour;
# tests/attack/NAME.py -> attack-NAME. The target unit-tests and the label unit are those of src/.
function(skua_tests)
  skua_googletest()
  skua_test_support()
  skua_kqueue_emulation()
  add_custom_target(unit-tests)
  foreach(root src tests)
    file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${root}/*)
    skua_part_files(folders)
    foreach(folder ${folders})
      file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*_test.cpp ${folder}/*_harness.cpp)
      if(NOT SKUA_JUDGE)
        list(FILTER sources EXCLUDE REGEX "/(hpack_nghttp2|connection_peer|server_run)_test\\.cpp$")
      endif()
      skua_platform_files(sources)
      get_filename_component(name ${folder} NAME)
      if(NOT sources OR (SKUA_TEST_FOLDERS AND NOT name IN_LIST SKUA_TEST_FOLDERS))
        continue()
      endif()
      if(name STREQUAL "cli" AND NOT TARGET skua-cli)
        continue()
      endif()
      set(labels ${name})
      if(root STREQUAL "tests")
        set(name ${name}-behaviour)
      else()
        list(APPEND labels unit)
        add_dependencies(unit-tests test-${name})
      endif()
      skua_executable(test-${name} ${sources})
      target_include_directories(test-${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
      target_link_libraries(test-${name} PRIVATE skua-test-support GTest::gtest_main
                            $<TARGET_NAME_IF_EXISTS:skua-kqueue-emulation>)
      skua_test_flags(test-${name})
      skua_test_headers(test-${name})
      if(name MATCHES "^(server|memory|sockets|redis)-behaviour$")
        target_sources(test-${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/allocations.cpp)
      endif()
      # Misbehaving peers are built on the libraries directly.
      if(name STREQUAL "h2" AND SKUA_JUDGE)
        skua_judge(test-${name})
      elseif(name STREQUAL "tls")
        skua_optional(test-${name} TLS)
      elseif(name STREQUAL "loop")
        skua_optional(test-${name} IO_URING)
      endif()
      skua_run_tests(test-${name} "${labels}")
    endforeach()
  endforeach()
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(SKUA_STATIC_PROGRAMS AND NOT WIN32 AND TARGET skua-cli AND Python3_FOUND)
    add_test(NAME empty-root COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tests/interop/empty_root.py
             $<TARGET_FILE:skua-cli>)
    set_tests_properties(empty-root PROPERTIES TIMEOUT 120 SKIP_RETURN_CODE 77 LABELS unit)
  endif()
  if(CMAKE_CROSSCOMPILING)
    return()  # the other tests start programs of this build without the emulator
  endif()
  # Sanitizers add nothing to compile errors and to texts.
  if(NOT SKUA_SANITIZE AND NOT SKUA_TEST_FOLDERS)
    add_subdirectory(tests/rejected)
    add_subdirectory(tests/packaging)
  endif()
  # Finished programs, tested by others. Once is enough: sanitizers see the same code in the other tests.
  foreach(folder attack interop)
    if((NOT SKUA_TEST_FOLDERS AND NOT SKUA_SANITIZE) OR folder IN_LIST SKUA_TEST_FOLDERS)
      if(NOT TARGET whole-programs)
        add_custom_target(whole-programs)
      endif()
      add_subdirectory(tests/${folder})
    endif()
  endforeach()
endfunction()

# fuzz/NAME_fuzz.cpp -> bin/fuzz-NAME; SKUA_SANITIZE instruments the library itself. Without
# libFuzzer the target only replays the files on its command line.
function(skua_fuzz_targets)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fuzz/*_fuzz.cpp)
  skua_part_files(sources)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_fuzz$" "" name ${name})
    if(name MATCHES "^cli_" AND NOT TARGET skua-commands)
      continue()
    endif()
    if(SKUA_SANITIZE MATCHES "fuzzer")
      skua_executable(fuzz-${name} ${source})
      target_link_options(fuzz-${name} PRIVATE -fsanitize=fuzzer)
    else()
      skua_executable(fuzz-${name} ${source} ${PROJECT_SOURCE_DIR}/fuzz/replay.cpp)
    endif()
    if(name MATCHES "^cli_")
      find_package(CLI11 REQUIRED)
      target_link_libraries(fuzz-${name} PRIVATE skua-commands CLI11::CLI11)
    endif()
    if(name MATCHES "^(server|tls_stream)$")
      target_sources(fuzz-${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/memory_stream.cpp)
      target_include_directories(fuzz-${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    endif()
    if(name MATCHES "^(h2|hpack)" AND NOT SKUA_SANITIZE MATCHES "memory")  # nghttp2 is not instrumented
      skua_judge(fuzz-${name})
      target_compile_definitions(fuzz-${name} PRIVATE SKUA_HAS_JUDGE=1)
    endif()
  endforeach()
endfunction()

# src/FOLDER/*_bench.cpp -> bench-FOLDER if Google Benchmark is installed; tests run one short round of each
function(skua_micro_benchmarks)
  find_package(benchmark QUIET)
  if(NOT benchmark_FOUND)
    return()
  endif()
  file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*)
  foreach(folder ${folders})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*_bench.cpp)
    if(sources)
      get_filename_component(name ${folder} NAME)
      skua_executable(bench-${name} ${sources})
      target_link_libraries(bench-${name} PRIVATE benchmark::benchmark_main)
      add_test(NAME bench-${name} COMMAND bench-${name} --benchmark_min_time=0.001)
    endif()
  endforeach()
endfunction()
