// The JSON type that we use everywhere: keys keep the order in which they were written.
#pragma once

#include <nlohmann/json.hpp>

namespace zbphw {
using Json = nlohmann::ordered_json;
}
