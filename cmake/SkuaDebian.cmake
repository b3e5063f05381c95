# Debian packages by CPack, one for each component. tools/package.sh makes them from two builds, so that libskua-dev has
# both the static and the shared library.
set(release ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_VENDOR skua)
set(CPACK_PACKAGE_CONTACT "The skua authors <maintainers@skua.example>")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL library dev command)
set(CPACK_COMPONENTS_SHARED library dev)  # of which build: see tools/package.sh
set(CPACK_COMPONENTS_STATIC dev command)
set(CPACK_COMPONENT_DEV_DEPENDS library)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/deb/complete.cmake)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)

set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # the first line of each description
set(about "skua serves and requests HTTP/1.1, HTTP/2 and WebSocket, with TLS and without:\n\
one event loop per core, strict parsing, and limits on everything.\n\nThis package has")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libskua${release})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/deb/triggers)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "HTTP toolkit for C++20 - shared library\n${about} the shared library.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libskua-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_DEV_DESCRIPTION "HTTP toolkit for C++20 - development files\n${about} the headers, the \
static library,\nand what CMake and pkg-config need to find both libraries.")
# Programs that link the static library need the same libraries.
skua_features(features)
foreach(feature ${features})
  string(TOUPPER ${feature} option)
  skua_dependency(${option})
  list(APPEND needed ${skua_debian})
endforeach()
list(JOIN needed ", " CPACK_DEBIAN_DEV_PACKAGE_DEPENDS)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME skua)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION httpd)
set(CPACK_DEBIAN_COMMAND_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/deb/prerm
    ${PROJECT_SOURCE_DIR}/packaging/deb/postrm ${PROJECT_SOURCE_DIR}/packaging/deb/conffiles)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "HTTP server, client and benchmark for the command line\n${about} the \
command and a systemd unit, which is\nneither enabled nor started.")
include(CPack)
