# Installs the build into an empty prefix, then configures, builds and runs the consumer against it alone.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(prefix ${work_dir}/prefix)
file(REMOVE_RECURSE ${work_dir})
run(${CMAKE_COMMAND} --install ${build_dir} --config ${config} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${source_dir} -B ${work_dir}/build -G ${generator} -D CMAKE_PREFIX_PATH=${prefix}
  -D CMAKE_BUILD_TYPE=${config} -D CMAKE_CXX_COMPILER=${compiler} "-DCMAKE_CXX_FLAGS=${flags}"
  -D CMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON)
run(${CMAKE_COMMAND} --build ${work_dir}/build --config ${config})
run(${work_dir}/build/consumer)
