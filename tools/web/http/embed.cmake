# cmake -DOUTPUT=FILE.cpp -DFOLDER=DIRECTORY -P embed.cmake: the files of the folder as arrays of a C++ file.
file(GLOB_RECURSE files RELATIVE ${FOLDER} ${FOLDER}/*)
list(SORT files)
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS files)
  file(READ ${FOLDER}/${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(APPEND arrays "constexpr unsigned char file_${index}[] = {${bytes}0};\n")
  string(APPEND rows "    {\"${file}\", {reinterpret_cast<const char*>(file_${index}), sizeof file_${index} - 1}},\n")
  math(EXPR index "${index} + 1")
endforeach()
set(text "// Made by tools/web/http/embed.cmake.
#include <vector>

#include \"tools/web/http/site.h\"

namespace orc::web {

namespace {

${arrays}
}  // namespace

std::span<const site_file> site_files() noexcept {
  static const std::vector<site_file> files{
${rows}  };
  return files;
}

}  // namespace orc::web
")
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "${text}" @ONLY)
