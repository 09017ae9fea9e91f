#include "calls/served_call.h"

#include <nanobind/stl/string.h>

#include <new>
#include <string>
#include <utility>

#include "buffers.h"
#include "gil.h"

namespace orc::python {

bool served_call::cancelled() noexcept {
  const std::lock_guard lock(mutex_);
  return context_ == nullptr || context_->cancelled();
}

bool served_call::feedback(std::span<const std::byte> bytes) noexcept try {
  const std::lock_guard lock(mutex_);
  return context_ != nullptr && context_->feedback(bytes);
} catch (const std::bad_alloc&) {
  return false;
}

void served_call::end_with(call_error why) noexcept {
  const std::lock_guard lock(mutex_);
  if (reply_ != nullptr) reply_->reject(std::move(why));
}

void served_call::end() noexcept {
  const std::lock_guard lock(mutex_);
  context_ = nullptr;
  reply_ = nullptr;
}

void bind_served_call(nb::module_& m) {
  using handle = served_call_handle;
  nb::class_<handle>(m, "ServedCall", nb::is_final(), "A call that is being served. Any thread may call.")
      .def_prop_ro("deadline",
                   [](const handle& self) {
                     return std::chrono::duration<double>(self.call->deadline().time_since_epoch()).count();
                   })
      .def_prop_ro("client",
                   [](const handle& self) {
                     const call_client& who = self.call->client();
                     return nb::make_tuple(who.name, who.host, who.pid);
                   })
      .def_ro("has_error", &handle::has_error)
      .def("cancelled",
           [](const handle& self) { return without_gil([&]() noexcept { return self.call->cancelled(); }); })
      .def(
          "feedback",
          [](const handle& self, nb::handle data) {
            const readable_bytes bytes(data);
            return without_gil([&]() noexcept {
              return self.call->feedback({static_cast<const std::byte*>(bytes.data()), bytes.size()});
            });
          },
          nb::arg("data"))
      .def(
          "end_with",
          [](handle& self, int code, std::int32_t number, std::string text, std::string exception_type) {
            self.has_error = true;
            call_error why{.code = static_cast<call_errc>(code),
                           .number = number,
                           .text = std::move(text),
                           .exception_type = std::move(exception_type)};
            without_gil([&]() noexcept { self.call->end_with(std::move(why)); });
          },
          nb::arg("code"), nb::arg("number"), nb::arg("text"), nb::arg("exception_type"));
}

}  // namespace orc::python
