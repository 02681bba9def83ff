//! Opening, accepting and tuning sockets.

use std::net::SocketAddr;
use std::path::PathBuf;

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrAny, SocketAddrUnix, SocketFlags, SocketType, sockopt};

/// Where a socket leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A TCP address.
    Tcp(SocketAddr),
    /// A unix socket.
    Unix(PathBuf),
    /// Something without a useful name.
    Unnamed,
}

const FLAGS: SocketFlags = SocketFlags::NONBLOCK.union(SocketFlags::CLOEXEC);

/// Start to connect; the socket becomes writable when it is known how that went.
pub(crate) fn connect(address: &Address) -> Result<OwnedFd, Errno> {
    let (family, target) = match address {
        Address::Tcp(address) => (
            if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 },
            SocketAddrAny::from(*address),
        ),
        Address::Unix(path) => {
            (AddressFamily::UNIX, SocketAddrAny::from(SocketAddrUnix::new(path.as_path())?))
        }
        Address::Unnamed => return Err(Errno::INVAL),
    };
    let fd = rustix::net::socket_with(family, SocketType::STREAM, FLAGS, None)?;
    if family != AddressFamily::UNIX {
        sockopt::set_tcp_nodelay(&fd, true)?;
    }
    match rustix::net::connect(&fd, &target) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(fd),
        Err(error) => Err(error),
    }
}

/// Accept one connection, ready for use.
pub(crate) fn accept(listener: &OwnedFd) -> Result<(OwnedFd, Address), Errno> {
    let (fd, from) = rustix::net::acceptfrom_with(listener, FLAGS)?;
    let address = match from.map(SocketAddr::try_from) {
        Some(Ok(address)) => {
            sockopt::set_tcp_nodelay(&fd, true)?;
            Address::Tcp(address)
        }
        _ => Address::Unnamed,
    };
    Ok((fd, address))
}
