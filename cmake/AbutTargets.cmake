# The build rules of every target: one set of compiler flags, and a function that makes a folder a library.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(CheckCXXCompilerFlag)

set(ABUT_ARCH "x86-64" CACHE STRING
  "Instruction set of all but the kernels, given to the compiler as -march=<value>")
option(ABUT_WARNINGS_AS_ERRORS "Make every warning an error" OFF)
option(ABUT_ASSERTIONS "Check ABUT_ASSERT in Release, too (Debug and RelWithDebInfo always do)" OFF)
option(ABUT_UNITY_BUILD
  "Compile the sources of a library several at a time: half the time for all, more after a change" ON)
option(ABUT_USE_CCACHE "Compile through ccache where it is installed" ON)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
  endif()
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")           # free memory less often: a tenth of the time, a fifth more memory
    add_compile_options(--param=ggc-min-expand=300 --param=ggc-min-heapsize=1500000)
    # How many stores g++ passes on its way back from a load to one that it may repeat, 1000 otherwise: a quarter of the
    # time of a kernel, a tenth of that of the rest.
    add_compile_options(--param=sccvn-max-alias-queries-per-access=50)
  endif()
endif()
set(CMAKE_CXX_EXTENSIONS OFF)
if(ABUT_USE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(ABUT_CCACHE ccache)
  mark_as_advanced(ABUT_CCACHE)
  if(ABUT_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${ABUT_CCACHE})
  endif()
endif()

# With AVX2, g++ copies 16 bytes at a time unless told otherwise; a register that is loaded from two such stores waits for
# both to leave the store buffer.
set(ABUT_WHOLE_COPIES -mmove-max=256 -mstore-max=256)
check_cxx_compiler_flag("${ABUT_WHOLE_COPIES}" ABUT_HAS_WHOLE_COPIES)
if(NOT ABUT_HAS_WHOLE_COPIES)
  set(ABUT_WHOLE_COPIES)
endif()

# The instruction sets that kernels are compiled for beside that of the whole library; which one runs is chosen when the
# program starts. `abut_add_kernels()` has their options, engine/processor.h what a processor must have for them.
set(ABUT_KERNEL_SETS "all" CACHE STRING
  "Instruction sets of kernels: all, or those that this machine has (a program for this machine and older ones)")
set_property(CACHE ABUT_KERNEL_SETS PROPERTY STRINGS all native)
set(ABUT_WIDER_SETS)                               # compiled
set(ABUT_LEFT_OUT_SETS)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_BUILD_TYPE STREQUAL "Release")
  foreach(set avx2 avx512)
    if(ABUT_KERNEL_SETS STREQUAL "native")
      try_run(ABUT_RUNS_${set} ABUT_COMPILES_${set} ${PROJECT_BINARY_DIR}/instruction_sets
        ${PROJECT_SOURCE_DIR}/cmake/has_instruction_set.cpp
        COMPILE_DEFINITIONS -I${PROJECT_SOURCE_DIR} -DABUT_PROCESSOR_HAS=processor_has_${set})
    elseif(ABUT_KERNEL_SETS STREQUAL "all")
      set(ABUT_RUNS_${set} 0)
    else()
      message(FATAL_ERROR "ABUT_KERNEL_SETS is '${ABUT_KERNEL_SETS}', allowed: all, native")
    endif()
    if(ABUT_RUNS_${set} EQUAL 0)
      list(APPEND ABUT_WIDER_SETS ${set})
    else()
      list(APPEND ABUT_LEFT_OUT_SETS ${set})
    endif()
  endforeach()
endif()

# What every target of ours and every user of ours must share, hence exported. The instruction set decides which type
# Eigen packs a vector into, and EIGEN_MAX_ALIGN_BYTES how it is aligned: two settings in one program are two memory
# layouts of the same type. Without contraction a product and a sum round twice everywhere, so that a kernel gives the
# same bits on one number and on a pack of them. -fno-math-errno changes no value; it lets sqrt be one instruction.
add_library(abut_options INTERFACE)
add_library(abut::options ALIAS abut_options)
set_target_properties(abut_options PROPERTIES EXPORT_NAME options)
target_compile_features(abut_options INTERFACE cxx_std_20)
target_compile_options(abut_options INTERFACE -march=${ABUT_ARCH} -ffp-contract=off -fno-math-errno -Wno-psabi
  -fPIC -fno-semantic-interposition)                # for shared objects, such as a Python module, at no cost to programs
target_compile_definitions(abut_options INTERFACE
  EIGEN_MAX_ALIGN_BYTES=16
  ABUT_VERSION="${PROJECT_VERSION}"
  $<$<IN_LIST:avx2,${ABUT_WIDER_SETS}>:ABUT_KERNELS_AVX2>
  $<$<IN_LIST:avx512,${ABUT_WIDER_SETS}>:ABUT_KERNELS_AVX512>
  $<$<OR:$<BOOL:${ABUT_ASSERTIONS}>,$<CONFIG:Debug,RelWithDebInfo>>:ABUT_ENABLE_ASSERTIONS>)
install(TARGETS abut_options EXPORT abutTargets)

# Warnings are ours alone, never exported. The exceptions are warnings of g++ 12's optimiser that it gets wrong in
# inlined Eigen and std::string code (PR 105329): shown but never errors, or hidden where a precompiled header, whose text
# g++ does not take for a system's, would show them by the dozen.
add_library(abut_warnings INTERFACE)
target_compile_options(abut_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Wextra-semi
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wlogical-op -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow
    -Wno-stringop-overread>
  $<$<BOOL:${ABUT_WARNINGS_AS_ERRORS}>:-Werror>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)

# Headers that nearly every source file reads, compiled once. Sources that are compiled with other flags (kernels) leave
# them out. `-D CMAKE_DISABLE_PRECOMPILE_HEADERS=ON` builds without, as clang-tidy needs it.
set(ABUT_COMMON_HEADERS
  <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map> <memory> <numbers> <numeric> <optional>
  <span> <stdexcept> <string> <string_view> <utility> <variant> <vector>
  <Eigen/Core> <Eigen/Geometry> <Eigen/LU> <Eigen/Cholesky> <spdlog/fmt/fmt.h>)
# A precompiled header serves one level of optimization: the one of the libraries, and that of programs.
#
# Code of programs waits for files, people and the libraries. -O1 compiles it in two thirds of the time, and takes members
# of std::optional that are set for ones that may not be.
set(ABUT_PROGRAM_OPTIONS $<$<CONFIG:Release>:-O1> $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
foreach(target abut_common_headers abut_program_headers)
  add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/cmake/common_headers.cpp)
  target_link_libraries(${target} PRIVATE abut_options abut_warnings Eigen3::Eigen spdlog::spdlog)
  target_precompile_headers(${target} PRIVATE ${ABUT_COMMON_HEADERS})
endforeach()
target_compile_options(abut_program_headers PRIVATE ${ABUT_PROGRAM_OPTIONS})

# abut_add_library(NAME [INTERNAL] [HEADERS file...] [SOURCES file...] [PRECOMPILE header...]
#                  [PUBLIC target...] [PRIVATE target...])
#
# Makes the current folder the library abut_NAME, alias abut::NAME. Headers are found from the repository root, as in
# "engine/types.h", and installed under include/abut/ so that the same line works after find_package(abut). PUBLIC and
# PRIVATE are the libraries it uses in its headers, and only in its sources. INTERNAL: a part of programs, not installed.
# PRECOMPILE: headers that most of its sources read beside the common ones. A library without sources is an interface library.
function(abut_add_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "HEADERS;SOURCES;PRECOMPILE;PUBLIC;PRIVATE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "abut_add_library(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target abut_${name})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:abut_warnings>)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ${ABUT_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 12)
    if(arg_INTERNAL)
      target_compile_options(${target} PRIVATE ${ABUT_PROGRAM_OPTIONS})
    endif()
    if(arg_PRECOMPILE)
      target_precompile_headers(${target} PRIVATE ${ABUT_COMMON_HEADERS} ${arg_PRECOMPILE})
    elseif(arg_INTERNAL)
      target_precompile_headers(${target} REUSE_FROM abut_program_headers)
    else()
      target_precompile_headers(${target} REUSE_FROM abut_common_headers)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(abut::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(${target} ${scope} abut::options ${arg_PUBLIC})
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  set(file_set)
  if(arg_HEADERS)
    target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${arg_HEADERS})
    set(file_set FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/abut)
  endif()
  if(NOT arg_INTERNAL)
    install(TARGETS ${target} EXPORT abutTargets ${file_set})
  endif()
endfunction()

# abut_add_kernels(NAME file [option...])
#
# Adds to abut_NAME the kernels of the header file_instance.h, compiled for the instruction set of the whole library and,
# where machines may have them, for AVX2 and AVX-512: see chosen_kernels() (engine/instruction_set.h). The options of the
# compiler are added to its own.
# Only where the compiler inlines, as a function that it does not inline could be taken from the wrong one of these files.
function(abut_add_kernels name file)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE folder)
  set(common -ffp-contract=off)       # products and sums fuse where fma() says so: A x B = -(B x A) to the last bit
  # Where others stand beside it, the base is for processors older than AVX2: -O1 compiles in half of the time.
  set(options_base)
  if(ABUT_WIDER_SETS)
    set(options_base -O1 -Wno-maybe-uninitialized)                 # of lanes that are set one by one
  endif()
  set(options_avx2 -march=x86-64-v3 ${ABUT_WHOLE_COPIES})
  set(options_avx512 -march=x86-64-v4)
  foreach(set base ${ABUT_WIDER_SETS})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${file}_${set}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT
      "#define ABUT_COMPILATION ${set}\n#include \"${folder}/${file}_instance.h\"\n")
    target_sources(abut_${name} PRIVATE ${source})
    set_source_files_properties(${source} PROPERTIES
      COMPILE_OPTIONS "${options_${set}};${common};${ARGN}" SKIP_PRECOMPILE_HEADERS ON)
  endforeach()
endfunction()

# Installs what find_package(abut) reads, and the bodies, experiments and scenes.
function(abut_install_package)
  set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/abut)
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/abutConfig.cmake.in ${PROJECT_BINARY_DIR}/abutConfig.cmake
    INSTALL_DESTINATION ${destination})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/abutConfigVersion.cmake COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/abutConfig.cmake ${PROJECT_BINARY_DIR}/abutConfigVersion.cmake
    DESTINATION ${destination})
  install(EXPORT abutTargets NAMESPACE abut:: DESTINATION ${destination})
  foreach(folder bodies experiments scenes)
    if(EXISTS ${PROJECT_SOURCE_DIR}/assets/${folder})
      install(DIRECTORY ${PROJECT_SOURCE_DIR}/assets/${folder} DESTINATION ${CMAKE_INSTALL_DATADIR}/abut/assets)
    endif()
  endforeach()
endfunction()
