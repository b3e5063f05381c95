// SPDX-License-Identifier: MIT
// Windows has its own reports of crashes (WerFault).
#include "skua/crash_reports.hpp"

namespace skua {

void report_crashes() {}
void report_crashes(Server&) {}

}  // namespace skua
