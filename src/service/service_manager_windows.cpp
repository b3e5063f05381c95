// SPDX-License-Identifier: MIT
// Windows starts and stops services in a way of its own, which is not supported: nobody is told.
#include "skua/service_manager.hpp"

namespace skua {

ServiceManager::ServiceManager() = default;
ServiceManager::~ServiceManager() = default;

void ServiceManager::ready() {}
void ServiceManager::status(std::string_view) {}
void ServiceManager::reloading() {}
void ServiceManager::stopping() {}
void ServiceManager::keep_alive() {}
void ServiceManager::replaced_by(int) {}
std::vector<std::string> ServiceManager::variables() const { return {}; }

}  // namespace skua
