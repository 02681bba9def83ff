//! Descriptors that Python hands over as plain numbers.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use rustix::io::{Errno, fcntl_dupfd_cloexec};

/// A descriptor of our own for the same open file.
pub fn duplicate(fd: RawFd) -> Result<OwnedFd, Errno> {
    if fd < 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the borrow ends with this call; the kernel refuses a number that is not open.
    let borrowed = unsafe { BorrowedFd::borrow_raw(fd) };
    fcntl_dupfd_cloexec(borrowed, 3)
}
