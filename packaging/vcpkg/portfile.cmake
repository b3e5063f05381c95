vcpkg_download_distfile(archive
  URLS "@URL@"
  FILENAME "skua-@VERSION@.tar.gz"
  SHA512 @SHA512@)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

vcpkg_check_features(OUT_FEATURE_OPTIONS features
  FEATURES
    tls SKUA_WITH_TLS
    zlib SKUA_WITH_ZLIB
    brotli SKUA_WITH_BROTLI
    zstd SKUA_WITH_ZSTD
    expat SKUA_WITH_EXPAT
    io-uring SKUA_WITH_IO_URING
    command SKUA_BUILD_CLI)
vcpkg_cmake_configure(
  SOURCE_PATH "${source}"
  OPTIONS
    ${features}
    -DSKUA_BUILD_TESTS=OFF
    -DSKUA_BUILD_EXAMPLES=OFF
    -DSKUA_BUILD_BENCH=OFF
    -DSKUA_UNITY=ON
    -DSKUA_WERROR=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/skua)
vcpkg_fixup_pkgconfig()
if("command" IN_LIST FEATURES)
  vcpkg_copy_tools(TOOL_NAMES skua AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")
