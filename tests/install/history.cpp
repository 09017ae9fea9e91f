// History, of the installed package.
#include <orc/history.h>

struct state {
  double q;
};
ORC_DESCRIBE(state, q)

int main() {
  orc::participant b;
  orc::typed_history past(b.request_topic<state>("state", {.conflate = 0}));
  return past.recv(0) == orc::errc::nothing_new && !past.interpolate(&state::q, 0) ? 0 : 1;
}
