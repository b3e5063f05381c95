# skua_check_coroutines(TARGET [FOLDER...]): before TARGET is built, its sources, and all C++ files below the folders, are
# searched for statements with co_await that GCC 12 miscompiles. Call it after the last source was added. Needs Python 3.
set(SKUA_CHECK_COROUTINES ${CMAKE_CURRENT_LIST_DIR}/check_coroutines.py)
if(NOT EXISTS ${SKUA_CHECK_COROUTINES})  # not installed, but a part of another project
  get_filename_component(SKUA_CHECK_COROUTINES ${CMAKE_CURRENT_LIST_DIR}/../tools/check_coroutines.py ABSOLUTE)
endif()

function(skua_check_coroutines target)
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(NOT Python3_FOUND)
    message(WARNING "skua_check_coroutines(${target}): Python 3 was not found, so nothing is checked")
    return()
  endif()
  get_target_property(origin ${target} SOURCE_DIR)
  get_target_property(sources ${target} SOURCES)
  set(files)
  foreach(source ${sources})
    get_filename_component(source "${source}" ABSOLUTE BASE_DIR ${origin})
    if(source MATCHES "[.](h|hh|hpp|hxx|cc|cpp|cxx)$" AND EXISTS ${source})
      list(APPEND files ${source})
    endif()
  endforeach()
  foreach(folder ${ARGN})
    get_filename_component(folder "${folder}" ABSOLUTE)
    if(NOT IS_DIRECTORY ${folder})
      message(FATAL_ERROR "skua_check_coroutines(${target}): there is no folder ${folder}")
    endif()
    file(GLOB_RECURSE below CONFIGURE_DEPENDS ${folder}/*.h ${folder}/*.hpp ${folder}/*.cc ${folder}/*.cpp)
    list(APPEND files ${below})
  endforeach()
  if(NOT files)
    return()
  endif()
  string(MD5 id "${files}")
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}-coroutines-${id}.stamp)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${Python3_EXECUTABLE} -B ${SKUA_CHECK_COROUTINES} ${files}
    COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
    DEPENDS ${files} ${SKUA_CHECK_COROUTINES} COMMENT "Checking the coroutines of ${target}" VERBATIM)
  add_custom_target(${target}-coroutines-${id} DEPENDS ${stamp})
  add_dependencies(${target} ${target}-coroutines-${id})
endfunction()
