# SPDX-License-Identifier: BSD-3-Clause
# Installing files that name places of the installation.

# Fills in a file when it is installed, so that it names the places of `cmake --install --prefix`: @BINDIR@, @LIBDIR@,
# @DATADIR@, and as the build knows them @PROJECT_VERSION@ and @CMAKE_INSTALL_...@.
function(phasemux_install_configured FILE DESTINATION NAME)
	set(CODE "set(PROJECT_VERSION ${PROJECT_VERSION})\n")
	foreach(DIR BINDIR LIBDIR DATADIR MANDIR)
		string(APPEND CODE "set(CMAKE_INSTALL_${DIR} \"${CMAKE_INSTALL_${DIR}}\")
		get_filename_component(${DIR} \"${CMAKE_INSTALL_${DIR}}\" ABSOLUTE
			BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")\n")
	endforeach()
	string(APPEND CODE "get_filename_component(PLACE \"${DESTINATION}/${NAME}\" ABSOLUTE
		BASE_DIR \"\${CMAKE_INSTALL_PREFIX}\")
	message(STATUS \"Installing: \$ENV{DESTDIR}\${PLACE}\")
	configure_file(\"${CMAKE_CURRENT_SOURCE_DIR}/${FILE}\" \"\$ENV{DESTDIR}\${PLACE}\" @ONLY
		FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
	list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${PLACE}\")\n")
	install(CODE "${CODE}")
endfunction()

# Sets NAME to the path from one folder of the installation to another, which holds wherever the installation is.
function(phasemux_path NAME FROM TO)
	file(RELATIVE_PATH PATH ${FROM} ${TO})
	set(${NAME} ${PATH} PARENT_SCOPE)
endfunction()
