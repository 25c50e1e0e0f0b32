// Text in: plain files and gzip files, told apart by their first bytes.
#pragma once

#include <string>

namespace zbphw {

// The whole (uncompressed) text of a file. Throws a data Error that names the file when it is missing, a directory,
// empty, or a gzip file that is damaged or ends early.
std::string read_text_file(const std::string& path);

}  // namespace zbphw
