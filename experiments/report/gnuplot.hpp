// Draws plots with gnuplot.
#pragma once

#include <string>

#include "experiments/report/plot.hpp"

namespace zbphw {

// The picture as a file of one of the formats. Throws a data Error when gnuplot is missing or refuses the script.
enum class PictureFormat { svg, png };
void draw(const Plot& plot, const std::string& title, PictureFormat format, const std::string& path);

}  // namespace zbphw
