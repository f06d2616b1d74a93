#pragma once

#ifndef TAMIS_VERSION
#define TAMIS_VERSION "0.2.0"
#endif

namespace tamis {

inline constexpr const char* kVersion = TAMIS_VERSION;

}  // namespace tamis
