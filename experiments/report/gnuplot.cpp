#include "experiments/report/gnuplot.hpp"

#include <sys/wait.h>

#include <cstdio>
#include <filesystem>

#include "base/error.hpp"

namespace zbphw {
namespace {

// Okabe and Ito's colours, told apart by everybody.
constexpr const char* settings =
    "blue = '#0072B2'\norange = '#E69F00'\ngreen = '#009E73'\n"
    "set border 31 linewidth 1 linecolor rgb 'gray30'\nset tics textcolor rgb 'gray10'\n"
    "set grid linecolor rgb 'gray85' linewidth 1\n";

std::string terminal(PictureFormat format) {
  return format == PictureFormat::svg
             ? "set terminal svg size 720,420 font 'sans-serif,13' background rgb 'white' noenhanced\n"
             : "set terminal pngcairo size 1440,840 font 'sans-serif,13' fontscale 1.7 linewidth 2 background rgb "
               "'white' noenhanced\n";
}

}  // namespace

void draw(const Plot& plot, const std::string& title, PictureFormat format, const std::string& path) {
  // gnuplot writes to a name of its own first: a picture is whole or not there.
  const std::string partial = path + ".partial";
  // Its messages would stand between ours; what goes wrong shows in the exit code and the missing file.
  std::FILE* pipe = popen("exec gnuplot 2>/dev/null", "w");
  if (pipe == nullptr) throw data_error("gnuplot", "cannot be started");
  const std::string script = terminal(format) + "set output " + gnuplot_text(partial) + "\n" + settings + "set title " +
                             gnuplot_text(title) + "\n" + plot.script + "unset output\n";
  const bool written = std::fwrite(script.data(), 1, script.size(), pipe) == script.size();
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
    throw data_error("gnuplot", "is not installed; Debian's package is gnuplot-nox");
  }
  if (!written || status != 0 || !std::filesystem::exists(partial)) {
    std::filesystem::remove(partial);
    throw data_error(path, "gnuplot could not draw it");
  }
  std::filesystem::rename(partial, path);
}

}  // namespace zbphw
