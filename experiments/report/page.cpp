#include "experiments/report/page.hpp"

#include <algorithm>

namespace zbphw {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

std::string base64(const std::string& bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - at);
    unsigned word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = word << 8 | (k < count ? static_cast<unsigned char>(bytes[at + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) result += k <= count ? digits[word >> (18 - 6 * k) & 63U] : '=';
  }
  return result;
}

constexpr const char* style =
    "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
    "table{border-collapse:collapse}td,th{padding:.2em .8em .2em 0;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #ddd}img{max-width:100%}h2{margin-top:2em}p{color:#444}";

}  // namespace

std::string html_page(const std::string& title, const PageTable& table, const std::vector<PageSection>& sections) {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>" +
                     escaped(title) + "</title>\n<style>" + style + "</style>\n</head>\n<body>\n<h1>" + escaped(title) +
                     "</h1>\n<table>\n";
  for (const auto& [name, value] : table) {
    page += "<tr><th>" + escaped(name) + "</th><td>" + escaped(value) + "</td></tr>\n";
  }
  page += "</table>\n";
  for (const PageSection& section : sections) {
    page += "<h2>" + escaped(section.title) + "</h2>\n";
    if (!section.svg.empty()) {
      page += "<img alt=\"" + escaped(section.title) + "\" src=\"data:image/svg+xml;base64," + base64(section.svg) +
              "\"/>\n";
    }
    page += "<p>" + escaped(section.caption) + "</p>\n";
  }
  return page + "</body>\n</html>\n";
}

}  // namespace zbphw
