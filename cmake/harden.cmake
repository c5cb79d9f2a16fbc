# SPDX-License-Identifier: BSD-3-Clause
# Hardening of release builds. Flags that a packager sets (CFLAGS, LDFLAGS) come before these and stay.
option(PHASEMUX_HARDEN "Release builds: stack protector, fortified calls of libc, no lazy binding" ON)

if(PHASEMUX_HARDEN AND CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$" AND NOT PHASEMUX_SANITIZE)
	add_compile_options(-fstack-protector-strong)
	if(NOT CMAKE_C_FLAGS MATCHES "_FORTIFY_SOURCE")
		add_compile_options(-D_FORTIFY_SOURCE=2)
	endif()
	add_link_options(-Wl,-z,relro -Wl,-z,now)
endif()

# The code of a target runs within the calls of the program. It has no stack protector, also if a packager's flags
# have it, because that adds 6 to 8 instructions to each of the functions that delimit a burst, and ends the program if
# it finds an error.
#	phasemux_within_calls(TARGET [SOURCE...])	the whole target, or these sources of it
function(phasemux_within_calls TARGET)
	if(ARGN)
		set_property(SOURCE ${ARGN} TARGET_DIRECTORY ${TARGET} APPEND PROPERTY
			COMPILE_OPTIONS -fno-stack-protector)
	else()
		target_compile_options(${TARGET} PRIVATE -fno-stack-protector)
	endif()
endfunction()
