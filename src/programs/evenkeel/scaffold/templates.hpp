// SPDX-License-Identifier: Apache-2.0
// Texts of the files in src/programs/evenkeel/templates, embedded by cmake/embed.cmake.
#pragma once

#include <string_view>

namespace evenkeel::program::templates {

extern const std::string_view ci_yaml;
extern const std::string_view clang_format;
extern const std::string_view cmake_lists;
extern const std::string_view controller_cpp;
extern const std::string_view controller_hpp;
extern const std::string_view dockerfile;
extern const std::string_view faults_test_cpp;
extern const std::string_view gitignore;
extern const std::string_view kind_hpp;
extern const std::string_view main_cpp;
extern const std::string_view readme;
extern const std::string_view sample_yaml;
extern const std::string_view server_test_cpp;
extern const std::string_view test_cpp;

}  // namespace evenkeel::program::templates
