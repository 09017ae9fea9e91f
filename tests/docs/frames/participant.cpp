// A participant `b`; the block sets up its topics.
#include <cstdio>

#include "orc.h"

namespace {

int block(orc::broker& b) {
  // block
  return 0;
}

}  // namespace

int main() {
  orc::broker b;
  return block(b);
}
