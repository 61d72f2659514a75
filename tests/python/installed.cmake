# Installs the package into an empty prefix and imports it from there, with a scene of the source.

file(REMOVE_RECURSE ${prefix})
execute_process(COMMAND ${CMAKE_COMMAND} -D CMAKE_INSTALL_PREFIX=${prefix} -P ${build_dir}/python/cmake_install.cmake
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${prefix}/${folder} ${python} -c
  "import abut; assert abut.__file__.startswith('${prefix}'); abut.load('${source_dir}/assets/scenes/box_slide.toml')"
  COMMAND_ERROR_IS_FATAL ANY)
