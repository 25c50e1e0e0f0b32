// Who made a file or printed a number: the version, the commit and the compiler of this build.
#pragma once

namespace zbphw {

const char* version();  // "0.1.0"

// Twelve digits of the commit that was built, "+" behind them when tracked files differed from it; "unknown" for a
// build outside a git checkout.
const char* commit();

const char* compiler();  // "GNU 12.2.0, Release"

}  // namespace zbphw
