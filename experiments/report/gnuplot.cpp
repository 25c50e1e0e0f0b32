#include "experiments/report/gnuplot.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace zbphw {
namespace {

// Okabe and Ito's colours, told apart by everybody.
constexpr const char* settings =
    "set encoding utf8\nblue = '#0072B2'\norange = '#E69F00'\ngreen = '#009E73'\n"
    "set border 31 linewidth 1 linecolor rgb 'gray30'\nset tics textcolor rgb 'gray10'\n"
    "set grid linecolor rgb 'gray85' linewidth 1\n";

std::string terminal(PictureFormat format) {
  return format == PictureFormat::svg
             ? "set terminal svg size 720,420 font 'sans-serif,13' background rgb 'white' noenhanced\n"
             : "set terminal pngcairo size 1440,840 font 'sans-serif,13' fontscale 1.7 linewidth 2 background rgb "
               "'white' noenhanced\n";
}

constexpr int not_found = -1;

// The exit status; -1 when there is no such program. No shell is between, and nothing of the user's own settings is
// read
// (-d). gnuplot's messages would stand between ours; what goes wrong shows in the status and the missing file.
int run_gnuplot(const std::string& script) {
  std::string program = "gnuplot", defaults = "-d", file = script;
  char* arguments[] = {program.data(), defaults.data(), file.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return not_found;
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace

void draw(const Plot& plot, const std::string& title, PictureFormat format, const std::string& path) {
  // Both have names of their own first: a picture is whole or not there.
  const std::string partial = path + ".partial";
  const std::string script = path + ".gnuplot";
  write_file_atomically(script, terminal(format) + "set output " + gnuplot_text(partial) + "\n" + settings +
                                    "set title " + gnuplot_text(title) + "\n" + plot.script + "unset output\n");
  const int status = run_gnuplot(script);
  std::filesystem::remove(script);
  if (status != 0 || !std::filesystem::exists(partial)) {
    std::filesystem::remove(partial);
    throw status == not_found ? data_error("gnuplot", "is not installed; Debian's package is gnuplot-nox")
                              : data_error(path, "gnuplot could not draw it");
  }
  std::filesystem::rename(partial, path);
}

}  // namespace zbphw
