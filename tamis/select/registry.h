// Every method by name.
#pragma once

#include <string>
#include <vector>

#include "tamis/select/method.h"

namespace tamis {

const std::vector<Method>& methods();
// Throws Error(usage) that lists the names there are.
const Method& find_method(const std::string& name);
// "a, b": the methods that can do it.
std::string methods_that(bool Method::*can);
std::string methods_that(bool (BoundMethod::*can)() const);

}  // namespace tamis
