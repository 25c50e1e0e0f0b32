#include "hw/plugin/child_process.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr double moment_s = 1;  // in which a child that has nothing more to do ends

// What the child does between fork and exec. Only functions that POSIX allows there: other threads of ours may have
// held any lock when we forked.
struct ChildStart {
  std::vector<char*> arguments;  // ends with a null pointer, as does the next
  std::vector<char*> environment;
  const char* folder;  // null: here
  ChildFiles files;
  int socket;
  int error_pipe;  // takes errno when the program cannot be started; closed by exec
  pid_t parent;
};

[[noreturn]] void report_and_exit(int error_pipe) {
  const int error = errno;
  const ssize_t ignored = write(error_pipe, &error, sizeof error);
  static_cast<void>(ignored);
  _exit(127);
}

[[noreturn]] void become_child(const ChildStart& start) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != start.parent) _exit(127);  // it died before the line above
  setpgid(0, 0);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  // Out of the way of 0, 1, 3 and 4 first.
  const int error_pipe = fcntl(start.error_pipe, F_DUPFD_CLOEXEC, 10);
  const int socket = fcntl(start.socket, F_DUPFD_CLOEXEC, 10);
  const int also = start.files.also < 0 ? -1 : fcntl(start.files.also, F_DUPFD_CLOEXEC, 10);
  if (start.files.socket_is_standard_io) {
    if (dup2(socket, 0) < 0 || dup2(socket, 1) < 0) report_and_exit(error_pipe);
  } else if (dup2(socket, 3) < 0 || dup2(2, 1) < 0) {  // what a driver prints must not mix with our results
    report_and_exit(error_pipe);
  }
  if (also >= 0 && dup2(also, 4) < 0) report_and_exit(error_pipe);
  const int first_unused = start.files.socket_is_standard_io ? 3 : (also >= 0 ? 5 : 4);
  close_range(static_cast<unsigned>(first_unused), ~0U, CLOSE_RANGE_CLOEXEC);
  if (start.folder != nullptr && chdir(start.folder) != 0) report_and_exit(error_pipe);
  execvpe(start.arguments[0], start.arguments.data(), start.environment.data());
  report_and_exit(error_pipe);
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments, const std::string& folder,
                           const ChildFiles& files) {
  std::array<int, 2> sockets{};
  std::array<int, 2> errors{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()) != 0) {
    throw device_error(arguments[0], std::string("no socket can be made: ") + std::strerror(errno));
  }
  if (pipe2(errors.data(), O_CLOEXEC) != 0) {
    const std::string reason = std::strerror(errno);
    close(sockets[0]);
    close(sockets[1]);
    throw device_error(arguments[0], "no pipe can be made: " + reason);
  }
  std::vector<std::string> words = arguments;
  // The child and we take turns. OpenMP's threads, left alone, would wait by spinning and hold up whoever works.
  std::string wait_policy = "OMP_WAIT_POLICY=passive";
  ChildStart start{{}, {}, folder.empty() ? nullptr : folder.c_str(), files, sockets[1], errors[1], getpid()};
  for (std::string& word : words) start.arguments.push_back(word.data());
  start.arguments.push_back(nullptr);
  for (char** variable = environ; *variable != nullptr; ++variable) start.environment.push_back(*variable);
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) start.environment.push_back(wait_policy.data());
  start.environment.push_back(nullptr);

  id_ = fork();
  if (id_ == 0) become_child(start);
  const int fork_error = errno;
  close(sockets[1]);
  close(errors[1]);
  socket_ = sockets[0];
  int exec_error = id_ < 0 ? fork_error : 0;
  if (id_ > 0) {
    ssize_t got = 0;
    do {
      got = read(errors[0], &exec_error, sizeof exec_error);  // ends at exec
    } while (got < 0 && errno == EINTR);
  }
  close(errors[0]);
  if (exec_error == 0) return;
  close(socket_);
  if (id_ > 0) waitpid(id_, nullptr, 0);
  throw device_error(arguments[0], std::string("cannot be started: ") + std::strerror(exec_error));
}

ChildProcess::~ChildProcess() {
  close(socket_);
  if (!has_ended_within(moment_s)) kill();
}

bool ChildProcess::has_ended_within(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (!ended_) {
    const pid_t got = waitpid(id_, &status_, WNOHANG);
    ended_ = got == id_ || (got < 0 && errno != EINTR);
    if (ended_ || std::chrono::steady_clock::now() >= end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return ended_;
}

void ChildProcess::kill() {
  if (ended_) return;
  ::kill(-id_, SIGKILL);
  ::kill(id_, SIGKILL);  // where it has left the group
  while (waitpid(id_, &status_, 0) < 0 && errno == EINTR) {
  }
  ended_ = true;
}

std::string ChildProcess::end_text() {
  if (!has_ended_within(moment_s)) {
    kill();
    return "closed its socket";
  }
  if (WIFEXITED(status_)) return "ended with exit code " + std::to_string(WEXITSTATUS(status_));
  const int signal = WTERMSIG(status_);
  return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ")";
}

}  // namespace zbphw
