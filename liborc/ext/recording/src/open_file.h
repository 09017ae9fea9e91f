// Opens what reader::open() opens, from any source of bytes.
#pragma once

#include <memory>

#include "files/input_file.h"
#include "orc/recording/reader.h"

namespace orc::recording::detail {

result open_file(std::unique_ptr<input_file> file, std::unique_ptr<reader>& made);

}  // namespace orc::recording::detail
