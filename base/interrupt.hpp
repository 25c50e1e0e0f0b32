// Ctrl-C and SIGTERM as a flag that long loops look at, so that they can save and leave in order.
#pragma once

namespace zbphw {

// From here on the first SIGINT or SIGTERM only sets the flag; a second one ends the process at once.
void install_interrupt_handler();

bool interrupt_requested();

}  // namespace zbphw
