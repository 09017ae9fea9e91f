// How `orc service echo` shows a recorded call.
#pragma once

#include <memory>
#include <string>

#include "orc/calls/call_record.h"
#include "orc/type_description.h"
#include "orc/types/decoder.h"
#include "tools/support/json.h"

namespace orc::cli {

// Decodes the requests and replies of one service.
class call_printer {
 public:
  // Types that cannot be decoded are shown as bytes.
  call_printer(const type_description& request, const type_description& reply);

  // "2026-11-24T10:15:00.250Z client (1234) call 17 in 1.2 ms: {"force":20.0} -> {"width":0.02}", on one line, whatever
  // the record has in it. Long requests, replies and texts are cut.
  [[nodiscard]] std::string line(const call_record& record) const;
  // The whole record as one line of JSON. "value" of a request or reply is what could be decoded.
  [[nodiscard]] std::string json(const std::string& service, const call_record& record) const;

 private:
  std::unique_ptr<types::decoder> request_;
  std::unique_ptr<types::decoder> reply_;
};

}  // namespace orc::cli
