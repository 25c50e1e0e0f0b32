#include "lower/lower.hpp"
#ifdef UPWARD
#include "upper/upper.hpp"
#endif
int lower() { return 1; }
