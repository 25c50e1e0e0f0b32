// A program that runs beside us on the other end of a socket, and never longer than we do.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace zbphw {

// Which of the child's file descriptors are ours. Everything else but standard error is closed in it.
struct ChildFiles {
  bool socket_is_standard_io = false;  // the socket is its standard input and output; else it is file descriptor 3
  int also = -1;                       // a file that becomes its file descriptor 4; -1: none
};

class ChildProcess {
 public:
  // `arguments` begins with the program, as a path or a name that PATH knows; `folder` is where it starts, "" for here.
  // The child has a process group of its own, so that Ctrl-C reaches us alone, and is killed when we die. Throws a
  // device Error when the program cannot be started.
  ChildProcess(const std::vector<std::string>& arguments, const std::string& folder, const ChildFiles& files);
  // Closes the socket, gives the child a moment to end by itself, and kills what is left.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  int socket() const { return socket_; }
  pid_t id() const { return id_; }

  // Kills the child and whatever it started in its group.
  void kill();
  // How the child ended, waiting a moment for a child that is about to: "ended with exit code 3", "was killed by signal
  // 11 (Segmentation fault)"; kills one that still runs: "closed its socket".
  std::string end_text();

 private:
  bool has_ended_within(double seconds);

  int socket_ = -1;
  pid_t id_ = -1;
  bool ended_ = false;
  int status_ = 0;
};

}  // namespace zbphw
