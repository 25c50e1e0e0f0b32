// The report as one HTML file that needs nothing beside it.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace zbphw {

struct PageSection {
  std::string title;
  std::string caption;
  std::string svg;  // a picture's bytes; "" for none
};

using PageTable = std::vector<std::pair<std::string, std::string>>;  // name, value

// Text is escaped; pictures are data URIs.
std::string html_page(const std::string& title, const PageTable& table, const std::vector<PageSection>& sections);

}  // namespace zbphw
