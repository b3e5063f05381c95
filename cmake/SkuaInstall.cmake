# Installs the library with its CMake package and skua.pc. Components: `library` (if it is shared), `dev` (headers,
# static library, packages) and `command`. Packages find everything relative to themselves, so a prefix can be moved.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A prefix may have both a static and a shared library. The static one comes last then: its skua.pc serves both.
function(skua_install)
  set(kind static)
  if(BUILD_SHARED_LIBS)
    set(kind shared)
  endif()
  set(package ${CMAKE_INSTALL_LIBDIR}/cmake/skua)
  set(made ${PROJECT_BINARY_DIR}/install)
  install(TARGETS skua EXPORT skua-${kind}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)
  install(EXPORT skua-${kind} NAMESPACE skua:: FILE skua-${kind}-targets.cmake DESTINATION ${package} COMPONENT dev)

  skua_features(features)
  set(extras)  # parts that need no library
  if(NOT SKUA_REDIS STREQUAL "OFF")
    list(APPEND extras redis)
  endif()
  file(WRITE ${made}/skua-${kind}.cmake "set(skua_FEATURES ${features})\nset(skua_EXTRAS ${extras})\n")
  # Until 1.0 a minor release may change the API and the ABI.
  write_basic_package_version_file(${made}/skua-config-version.cmake COMPATIBILITY SameMinorVersion)
  skua_pkgconfig(${made}/skua.pc ${features})
  install(FILES ${PROJECT_SOURCE_DIR}/cmake/SkuaPackage.cmake DESTINATION ${package} COMPONENT dev
          RENAME skua-config.cmake)
  install(FILES ${made}/skua-config-version.cmake ${made}/skua-${kind}.cmake
          ${PROJECT_SOURCE_DIR}/cmake/SkuaDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/SkuaEmbedFiles.cmake
          ${PROJECT_SOURCE_DIR}/cmake/SkuaCheckCoroutines.cmake ${PROJECT_SOURCE_DIR}/tools/check_coroutines.py
          ${PROJECT_SOURCE_DIR}/tools/cpp_text.py ${PROJECT_SOURCE_DIR}/tools/arguments.py
          DESTINATION ${package} COMPONENT dev)
  install(FILES ${made}/skua.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

  if(PROJECT_IS_TOP_LEVEL)
    add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR}
                      -P ${PROJECT_SOURCE_DIR}/cmake/SkuaUninstall.cmake VERBATIM)
  endif()
endfunction()

# Lists the components that are parts of the library: `tls` if it was built with OpenSSL, and so on.
function(skua_features result)
  get_target_property(definitions skua COMPILE_DEFINITIONS)
  set(features)
  foreach(option ${SKUA_LIBRARIES})
    if("SKUA_HAS_${option}=1" IN_LIST definitions)
      string(TOLOWER ${option} feature)
      list(APPEND features ${feature})
    endif()
  endforeach()
  set(${result} ${features} PARENT_SCOPE)
endfunction()

# Writes skua.pc. Programs with a static library also link what the library was built with.
function(skua_pkgconfig file)
  set(modules)
  set(libraries)
  if(NOT BUILD_SHARED_LIBS)
    foreach(feature ${ARGN})
      string(TOUPPER ${feature} option)
      skua_dependency(${option})
      list(APPEND modules ${skua_modules})
    endforeach()
    set(libraries ${CMAKE_THREAD_LIBS_INIT})
    get_target_property(linked skua LINK_LIBRARIES)
    foreach(library ${linked})
      if(NOT library MATCHES "::")
        list(APPEND libraries -l${library})
      endif()
    endforeach()
  endif()
  list(JOIN modules " " modules)
  list(JOIN libraries " " libraries)
  file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  file(RELATIVE_PATH library_folder ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_LIBDIR})
  file(RELATIVE_PATH include_folder ${CMAKE_INSTALL_PREFIX} ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/skua.pc.in ${file} @ONLY)
endfunction()

# Installs the command, its manual pages and shell completions.
function(skua_install_command)
  install(TARGETS skua-cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
  install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command OPTIONAL
          FILES_MATCHING PATTERN *.1)
  set(completions ${PROJECT_BINARY_DIR}/completions)
  install(FILES ${completions}/skua.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME skua
          COMPONENT command OPTIONAL)
  install(FILES ${completions}/_skua DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions
          COMPONENT command OPTIONAL)
  install(FILES ${completions}/skua.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
          COMPONENT command OPTIONAL)
endfunction()
