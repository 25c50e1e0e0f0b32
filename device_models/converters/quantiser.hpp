// A converter with its range resolved to plain numbers, as kernels need it.
//
// Light on purpose: this header is included by sources compiled for wide instruction sets, and a template or inline
// function instantiated there could be the copy that the linker keeps for everybody.
#pragma once

namespace zbphw {

enum class Dither { none, subtractive, triangular };

// With `ideal` the other members are unused.
struct Quantiser {
  bool ideal = true;
  Dither dither = Dither::none;
  float origin = 0;        // value of code 0
  float step = 0;          // value between neighbouring codes (the least significant bit)
  float inverse_step = 0;  // 1 / step
  float last_code = 0;     // codes run from 0 to this
};

}  // namespace zbphw
