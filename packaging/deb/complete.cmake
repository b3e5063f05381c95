# Completes the packages, once CPack has installed the files of each: adds the documents that every Debian package has
# and the service, compresses manual pages, and puts completions into the folders of Debian's zsh.
set(source ${CMAKE_CURRENT_LIST_DIR}/../..)
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)  # of SOURCE_DATE_EPOCH, if it is set

function(compress)
  execute_process(COMMAND gzip --best --no-name --force ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} name)
  set(name ${CPACK_DEBIAN_${name}_PACKAGE_NAME})
  set(documents ${CPACK_TEMPORARY_DIRECTORY}/${component}/usr/share/doc/${name})
  configure_file(${source}/LICENSE ${documents}/copyright COPYONLY)
  configure_file(${source}/CHANGELOG.md ${documents}/changelog COPYONLY)
  file(WRITE ${documents}/changelog.Debian
       "skua (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
       "  * ${CPACK_PACKAGE_VERSION}, see changelog.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
  compress(${documents}/changelog ${documents}/changelog.Debian)
endforeach()

set(root ${CPACK_TEMPORARY_DIRECTORY}/command)
file(GLOB pages ${root}/usr/share/man/man1/*.1)
if(pages)
  compress(${pages})
endif()
set(zsh ${root}/usr/share/zsh)
if(EXISTS ${zsh}/site-functions)
  file(RENAME ${zsh}/site-functions ${zsh}/vendor-completions)
endif()
set(systemd ${source}/packaging/systemd)
file(COPY ${systemd}/skua.service ${systemd}/skua.socket DESTINATION ${root}/lib/systemd/system)
configure_file(${systemd}/skua.default ${root}/etc/default/skua COPYONLY)
