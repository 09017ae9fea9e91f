# Third-party code, under one name each, on Debian 12, Debian 13 and Ubuntu 24.04. All are imported
# (SYSTEM includes: our warnings do not apply to them):
#   PkgConfig::ZMQ       libzmq; cppzmq's zmq.hpp is header-only and comes with it
#   orc_flatbuffers      FlatBuffers headers and runtime;  ORC_FLATC: the compiler
#   orc_isal             ISA-L: Reed-Solomon codes for multicast, checksums of recordings
#   CLI11::CLI11         command lines
#   nlohmann_json::nlohmann_json  JSON
#   ORC_TOMLPLUSPLUS_INCLUDE_DIR  toml++ (header-only), in tools/parameter_files only
#   protobuf::libprotobuf         Protobuf, in the decoder of types only
#   PkgConfig::ZSTD, PkgConfig::LZ4  compression of recordings only
#   PkgConfig::SYSTEMD   sd_notify; the target is missing if libsystemd is (ORC_HAVE_SYSTEMD tells)
# Catch2 belongs to the tests and is found there.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

pkg_check_modules(ZMQ REQUIRED IMPORTED_TARGET GLOBAL libzmq>=4.3.4)
find_path(ORC_CPPZMQ_INCLUDE_DIR zmq.hpp REQUIRED)
if(NOT ORC_CPPZMQ_INCLUDE_DIR STREQUAL "/usr/include")
  target_include_directories(PkgConfig::ZMQ SYSTEM INTERFACE ${ORC_CPPZMQ_INCLUDE_DIR})
endif()

pkg_check_modules(SYSTEMD IMPORTED_TARGET GLOBAL libsystemd)
set(ORC_HAVE_SYSTEMD ${SYSTEMD_FOUND})

# Debian 12 (2.0.8), Debian 13 and Ubuntu 24.04 (23.5) install FlatBuffersConfig, upstream releases
# flatbuffers-config, and the target is the static or the shared one depending on how it was built; the headers alone are
# enough too.
find_package(FlatBuffers QUIET NAMES FlatBuffers Flatbuffers flatbuffers)
add_library(orc_flatbuffers INTERFACE IMPORTED GLOBAL)
if(TARGET flatbuffers::flatbuffers)
  target_link_libraries(orc_flatbuffers INTERFACE flatbuffers::flatbuffers)
elseif(TARGET flatbuffers::flatbuffers_shared)
  target_link_libraries(orc_flatbuffers INTERFACE flatbuffers::flatbuffers_shared)
else()
  find_path(ORC_FLATBUFFERS_INCLUDE_DIR flatbuffers/flatbuffers.h REQUIRED)
  target_include_directories(orc_flatbuffers SYSTEM INTERFACE ${ORC_FLATBUFFERS_INCLUDE_DIR})
endif()
find_program(ORC_FLATC flatc REQUIRED)

pkg_check_modules(ISAL QUIET IMPORTED_TARGET GLOBAL libisal)
add_library(orc_isal INTERFACE IMPORTED GLOBAL)
if(TARGET PkgConfig::ISAL)
  target_link_libraries(orc_isal INTERFACE PkgConfig::ISAL)
else()
  find_path(ORC_ISAL_INCLUDE_DIR isa-l/erasure_code.h REQUIRED)
  find_library(ORC_ISAL_LIBRARY isal REQUIRED)
  target_include_directories(orc_isal SYSTEM INTERFACE ${ORC_ISAL_INCLUDE_DIR})
  target_link_libraries(orc_isal INTERFACE ${ORC_ISAL_LIBRARY})
endif()

find_package(CLI11 QUIET)
if(NOT TARGET CLI11::CLI11)
  find_path(ORC_CLI11_INCLUDE_DIR CLI/CLI.hpp REQUIRED)
  add_library(CLI11::CLI11 INTERFACE IMPORTED GLOBAL)
  target_include_directories(CLI11::CLI11 SYSTEM INTERFACE ${ORC_CLI11_INCLUDE_DIR})
endif()

find_package(nlohmann_json 3.10 REQUIRED)
if(ORC_BUILD_TOOLS OR ORC_BUILD_TESTS OR ORC_BUILD_BENCHMARKS OR ORC_FUZZ)
  find_package(Protobuf 3.12 REQUIRED)
  pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd>=1.4)
  pkg_check_modules(LZ4 REQUIRED IMPORTED_TARGET GLOBAL liblz4>=1.9)
endif()
if((ORC_BUILD_TOOLS OR ORC_BUILD_TESTS) AND NOT ORC_FUZZ)
  find_path(ORC_TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
endif()
