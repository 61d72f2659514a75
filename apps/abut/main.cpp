/// The program `abut`.
#include "apps/abut/commands.h"

int main(int argc, char** argv) { return abut::run_command_line(argc, argv); }
