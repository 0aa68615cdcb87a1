// SPDX-License-Identifier: Apache-2.0
// The report: `-mllvm -causeway-simd-report=FILE` appends a line for each loop, "-" is standard error.
#include "report.hpp"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/raw_ostream.h>

using namespace llvm;

namespace causeway::simd {

namespace {

// A plug-in that only -fpass-plugin names is loaded after the options were read; -fplugin loads it before.
cl::opt<std::string> report_file("causeway-simd-report", cl::value_desc("file"),
                                 cl::desc("Append what was done with each loop, or why nothing was, to this file; - is "
                                          "standard error"));

} // namespace

void report::line(const DebugLoc& location, const Function& function, const char* verdict, const Twine& text) {
    if (report_file.empty()) return;
    // One write per line: compilers that run at once may append to one file.
    std::string line;
    raw_string_ostream out(line);
    if (location)
        out << location->getFilename() << ':' << location.getLine() << ':' << location.getCol();
    else
        out << function.getParent()->getSourceFileName();
    out << ": " << verdict << " in " << function.getName() << ": " << text << '\n';
    if (report_file == "-") {
        errs() << line;
        return;
    }
    std::error_code failure;
    raw_fd_ostream file(report_file, failure, sys::fs::OF_Append | sys::fs::OF_Text);
    if (!failure) {
        file << line;
        file.close();
        failure = file.error();
        file.clear_error();
    }
    if (failure) {
        // The report is no reason to break a build.
        errs() << "causeway-simd: no report in " << report_file << ": " << failure.message() << '\n';
        report_file.clear();
    }
}

report::loop_location::loop_location(const Loop& loop)
    : location(loop.getStartLoc()), block(loop.getLoopPreheader() ? loop.getLoopPreheader() : loop.getHeader()) {}

void report::done(const loop_location& loop, StringRef kind, const Twine& what) {
    m_remarks.emit([&] { return OptimizationRemark(remark_pass, kind, loop.location, loop.block) << what.str(); });
    line(loop.location, *loop.block->getParent(), "done", what);
}

void report::left(const loop_location& loop, StringRef kind, const Twine& why) {
    m_remarks.emit([&] { return OptimizationRemarkMissed(remark_pass, kind, loop.location, loop.block) << why.str(); });
    line(loop.location, *loop.block->getParent(), "left", why);
}

} // namespace causeway::simd
