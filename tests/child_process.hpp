// Runs a piece of a test in a process of its own, so that it may be killed or crash.
#pragma once

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <string>

// The process id of a child that runs `body` and exits with its result.
inline pid_t start_child(const std::function<int()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // a test that is stopped leaves nobody behind
    int result = 255;
    try {
      result = body();
    } catch (...) {  // an exception must not unwind into the test runner's copy
    }
    _exit(result);
  }
  return child;
}

// The exit code, or minus the number of the signal that ended the child.
inline int wait_for_child(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

inline int run_in_child(const std::function<int()>& body) { return wait_for_child(start_child(body)); }

struct ToolOutput {
  int exit_code = -1;
  std::string text;  // standard output and standard error together
};

inline ToolOutput run_tool(const std::string& command) {
  ToolOutput output;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return output;
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, pipe)) output.text.append(block, got);
  const int status = pclose(pipe);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

// Whether a shell command works here; a test that needs it says so and stops when not.
inline bool tool_works(const std::string& command) { return run_tool(command).exit_code == 0; }
