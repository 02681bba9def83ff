//! What can be wrong with certificates, keys and settings; each says what to do.

use std::fmt;
use std::path::PathBuf;

/// Why a server cannot speak TLS as it was told to.
#[derive(Debug)]
pub enum Fault {
    /// A file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
    /// A file is not PEM, or what is in it is not what it says.
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// A file holds no certificate or no key.
    Missing {
        /// The file.
        path: PathBuf,
        /// What was looked for.
        what: &'static str,
    },
    /// The key is encrypted with a passphrase.
    Encrypted {
        /// The file.
        path: PathBuf,
    },
    /// The key belongs to another certificate.
    Mismatch {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
    },
    /// The settings contradict themselves.
    Settings(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, cause } => {
                write!(f, "{} cannot be read: {cause}", path.display())
            }
            Self::Malformed { path, what } => write!(f, "{}: {what}", path.display()),
            Self::Missing { path, what } => {
                write!(f, "{} holds no {what} in PEM (-----BEGIN ...)", path.display())
            }
            Self::Encrypted { path } => write!(
                f,
                "{0} is encrypted with a passphrase: write it without one, \
                 openssl pkey -in {0} -out plain.pem",
                path.display()
            ),
            Self::Mismatch { certificate, key } => write!(
                f,
                "{} is not the key of the first certificate in {}",
                key.display(),
                certificate.display()
            ),
            Self::Settings(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Unreadable { cause, .. } => Some(cause),
            _ => None,
        }
    }
}
