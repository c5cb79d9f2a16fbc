# SPDX-License-Identifier: BSD-3-Clause
# The completions of shells and the manual pages of the subcommands, which the command that was built writes.
if(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
	message(STATUS "built for another processor: no completions for shells, and no manual pages of subcommands")
	return()
endif()
set(COMPLETIONS "")
# phasemux_completion(SHELL FILE DESTINATION)
function(phasemux_completion SHELL FILE DESTINATION)
	set(OUTPUT ${CMAKE_BINARY_DIR}/completions/${FILE})
	add_custom_command(OUTPUT ${OUTPUT}
		COMMAND phasemux_command completions ${SHELL} > ${OUTPUT}
		DEPENDS phasemux_command)
	install(FILES ${OUTPUT} DESTINATION ${CMAKE_INSTALL_DATADIR}/${DESTINATION})
	set(COMPLETIONS ${COMPLETIONS} ${OUTPUT} PARENT_SCOPE)
endfunction()
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/completions)
phasemux_completion(bash phasemux bash-completion/completions)
phasemux_completion(zsh _phasemux zsh/site-functions)
phasemux_completion(fish phasemux.fish fish/vendor_completions.d)
add_custom_target(phasemux_completions ALL DEPENDS ${COMPLETIONS})

set(MANUALS ${CMAKE_BINARY_DIR}/man1)
add_custom_command(OUTPUT ${MANUALS}/phasemux-run.1
	COMMAND ${CMAKE_COMMAND} -E rm -rf ${MANUALS}
	COMMAND ${CMAKE_COMMAND} -E make_directory ${MANUALS}
	COMMAND phasemux_command manual ${MANUALS}
	DEPENDS phasemux_command)
add_custom_target(phasemux_manuals ALL DEPENDS ${MANUALS}/phasemux-run.1)
install(DIRECTORY ${MANUALS} DESTINATION ${CMAKE_INSTALL_MANDIR})
