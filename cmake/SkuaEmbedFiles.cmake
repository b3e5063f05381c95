# skua_embed_files(TARGET FOLDER [NAME name]): the files below FOLDER become part of TARGET, for skua::MemoryFiles. The
# source of TARGET includes "NAME.hpp", which declares the constant NAME; by default that is the folder's own name.
# Names that begin with a dot are left out. Needs CMake 3.19.
#
# This file is also the script that writes the source: cmake -D FOLDER=… -D NAME=… -D OUTPUT=… -P SkuaEmbedFiles.cmake
set(SKUA_EMBED_FILES ${CMAKE_CURRENT_LIST_FILE})

function(skua_embed_files target folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" NAME "")
  get_filename_component(folder ${folder} ABSOLUTE)
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "skua_embed_files(${target}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT IS_DIRECTORY ${folder})
    message(FATAL_ERROR "skua_embed_files(${target}): there is no folder ${folder}")
  endif()
  if(NOT arg_NAME)
    get_filename_component(arg_NAME ${folder} NAME)
    string(MAKE_C_IDENTIFIER ${arg_NAME} arg_NAME)
  endif()
  set(made ${CMAKE_CURRENT_BINARY_DIR}/${target}-embedded)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*)
  add_custom_command(
    OUTPUT ${made}/${arg_NAME}.cpp ${made}/${arg_NAME}.hpp
    COMMAND ${CMAKE_COMMAND} -D FOLDER=${folder} -D NAME=${arg_NAME} -D OUTPUT=${made} -D IS_MSVC=${MSVC}
            -P ${SKUA_EMBED_FILES}
    DEPENDS ${files} ${SKUA_EMBED_FILES} COMMENT "Embedding ${folder}" VERBATIM)
  target_sources(${target} PRIVATE ${made}/${arg_NAME}.cpp ${made}/${arg_NAME}.hpp)
  target_include_directories(${target} PRIVATE ${made})
endfunction()

# Sets `result` to C++ that is a string_view of hexadecimal bytes, and appends its definition to `definitions`.
macro(skua_embed_bytes result name hex)
  set(${result} "{}")
  string(LENGTH "${hex}" digits)
  if(digits GREATER 0)
    math(EXPR size "${digits} / 2")
    if(IS_MSVC)  # which takes no string literals above 64 KiB
      string(REGEX REPLACE "(..)" "char(0x\\1)," bytes "${hex}")
      string(APPEND definitions "constexpr char ${name}[] = {${bytes}};\n")
    else()
      string(REGEX REPLACE "(..)" "\\\\x\\1" bytes "${hex}")
      string(APPEND definitions "constexpr char ${name}[] = \"${bytes}\";\n")
    endif()
    set(${result} "{${name}, ${size}}")
  endif()
endmacro()

# Sets `result` to the compressed bytes of a file, in hexadecimal; to nothing if they are not fewer.
macro(skua_embed_coded result path coding plain)
  file(ARCHIVE_CREATE OUTPUT ${OUTPUT}/coded PATHS "${path}" FORMAT raw COMPRESSION ${coding} COMPRESSION_LEVEL 9)
  file(READ ${OUTPUT}/coded ${result} HEX)
  file(REMOVE ${OUTPUT}/coded)
  if("${coding}" STREQUAL "GZip")
    # The time in the head would make each build another one. RFC 1952 2.3
    string(SUBSTRING "${${result}}" 0 8 coded_begin)
    string(SUBSTRING "${${result}}" 16 -1 coded_rest)
    set(${result} "${coded_begin}00000000${coded_rest}")
  endif()
  string(LENGTH "${${result}}" coded_digits)
  string(LENGTH "${plain}" plain_digits)
  if(NOT coded_digits LESS plain_digits)
    set(${result} "")
  endif()
endmacro()

function(skua_write_embedded_files)
  file(MAKE_DIRECTORY ${OUTPUT})
  file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
  list(SORT files)
  set(definitions "")
  set(entries "")
  set(count 0)
  foreach(file IN LISTS files)
    if("/${file}" MATCHES "/\\.")
      continue()
    endif()
    if(file MATCHES "[\\\\\"]" OR NOT EXISTS "${FOLDER}/${file}")  # a semicolon splits the name
      message(FATAL_ERROR "skua_embed_files: ${FOLDER}/${file} has a name that CMake cannot handle")
    endif()
    math(EXPR count "${count} + 1")
    file(READ "${FOLDER}/${file}" plain HEX)
    file(SHA256 "${FOLDER}/${file}" digest)
    string(SUBSTRING ${digest} 0 32 digest)
    skua_embed_coded(gzip "${FOLDER}/${file}" GZip "${plain}")
    skua_embed_coded(zstd "${FOLDER}/${file}" Zstd "${plain}")
    skua_embed_bytes(content plain_${count} "${plain}")
    skua_embed_bytes(gzip gzip_${count} "${gzip}")
    skua_embed_bytes(zstd zstd_${count} "${zstd}")
    string(APPEND entries "    {\"/${file}\", ${content}, \"${digest}\", ${gzip}, ${zstd}},\n")
  endforeach()
  if(count EQUAL 0)
    message(FATAL_ERROR "skua_embed_files: there is no file in ${FOLDER}")
  endif()
  file(WRITE ${OUTPUT}/${NAME}.hpp "// Made of ${FOLDER} by skua_embed_files().
#pragma once
#include <skua/memory_files.hpp>
extern const std::span<const skua::EmbeddedFile> ${NAME};
")
  file(WRITE ${OUTPUT}/${NAME}.cpp "// Made of ${FOLDER} by skua_embed_files().
#include \"${NAME}.hpp\"
namespace {
${definitions}constexpr skua::EmbeddedFile files[] = {
${entries}};
}  // namespace
constinit const std::span<const skua::EmbeddedFile> ${NAME}{files};
")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL SKUA_EMBED_FILES)
  skua_write_embedded_files()
endif()
