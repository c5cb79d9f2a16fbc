# SPDX-License-Identifier: BSD-3-Clause
# Toolchain for ARM64 (the preset arm64): Debian's cross compiler, and libraries from the packages that
# tests/machine/debian unpacks in the folder of the build.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

get_filename_component(CMAKE_SYSROOT ${CMAKE_CURRENT_LIST_DIR}/../build-arm64/debian/sysroot ABSOLUTE)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
# The linker finds the libraries of libraries there.
set(LIBRARIES ${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu)
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${LIBRARIES}:${CMAKE_SYSROOT}/lib/aarch64-linux-gnu)

set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${LIBRARIES}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)

# The compilers of the two MPIs, of C only: those of the packages are programs for ARM64, and those of the host
# name the host's libraries.
set(CMAKE_PROGRAM_PATH ${CMAKE_CURRENT_LIST_DIR}/arm64)
foreach(MPI openmpi mpich)
	set(PROGRAM_CXX_${MPI} "" CACHE FILEPATH "none of ARM64")
	set(PROGRAM_FC_${MPI} "" CACHE FILEPATH "none of ARM64")
endforeach()
