// Each ORC_CASE must not compile: tests/CMakeLists.txt has the words that the compiler must say.
#include <string>

#include "orc/typed.h"

namespace refused {

#if ORC_CASE == 1
struct text {
  std::string name;
};
ORC_DESCRIBE(text, name)
#elif ORC_CASE == 2
struct mixed {
  int a;

 private:
  int b;
};
ORC_DESCRIBE(mixed, a)
#elif ORC_CASE == 3
struct node {
  node* pointer;
};
ORC_DESCRIBE(node, pointer)
#elif ORC_CASE == 4
struct sign {
  wchar_t letters[4];
};
ORC_DESCRIBE(sign, letters)
#elif ORC_CASE == 5
struct twice {
  int a, b;
};
ORC_DESCRIBE(twice, a, b, a)
#elif ORC_CASE == 6
namespace {
struct local {
  int a;
};
ORC_DESCRIBE(local, a)
}  // namespace
const auto& type = orc::type_traits<local>::describe();
#elif ORC_CASE == 7
struct unknown {
  int a;
};
auto registered(orc::participant& participant) { return participant.register_topic<unknown>("topic"); }
#elif ORC_CASE == 8
struct part {
  int a;
};
struct whole {
  part inner;
};
ORC_DESCRIBE(whole, inner)
#elif ORC_CASE == 9
struct no_enum {
  static constexpr int a = 1;
};
ORC_DESCRIBE_ENUM(no_enum, a)
#elif ORC_CASE == 10
enum class door : bool { shut, open };
ORC_DESCRIBE_ENUM(door, shut, open)
#elif ORC_CASE == 11
struct command {
  double v = 0;
  command() = default;
  constexpr command(double speed) noexcept : v(speed) {}
};
ORC_DESCRIBE(command, v)
auto sent(orc::typed_publisher<command>& to) { return to.send(0.5); }
#endif

}  // namespace refused
