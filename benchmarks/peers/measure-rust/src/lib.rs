// SPDX-License-Identifier: Apache-2.0

//! The common parts of the programs on kube-rs: clock, CPU and flags.

/// Returns nanoseconds of CLOCK_MONOTONIC, which is the same for all processes of a machine.
pub fn now() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is a valid place to write to.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// Returns the processor time of this process.
pub fn cpu_seconds() -> f64 {
    // SAFETY: all zeros is a valid rusage, and a valid place to write to.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// Returns the value of a flag: --name value.
pub fn flag(name: &str, default: &str) -> String {
    let arguments: Vec<String> = std::env::args().collect();
    let at = arguments
        .iter()
        .position(|argument| argument == &format!("--{name}"));
    at.and_then(|at| arguments.get(at + 1))
        .map_or(default, |value| value.as_str())
        .to_string()
}
