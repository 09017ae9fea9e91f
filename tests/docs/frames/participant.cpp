// A participant `b`; the block sets up its topics.
#include <cstdio>

#include "orc.h"

namespace {

int block(orc::participant& b) {
  // block
  return 0;
}

}  // namespace

int main() {
  orc::participant b;
  return block(b);
}
