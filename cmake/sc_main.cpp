// SystemC's library carries a main() that calls sc_main(), and needs the symbol even where our own main() wins.
#include <cstdlib>

extern "C" int sc_main(int, char**) { std::abort(); }
