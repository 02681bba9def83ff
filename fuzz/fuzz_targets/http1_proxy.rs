//! Invariant: a header of the PROXY protocol is read alike however its bytes arrive: nothing is
//! decided that more bytes would change, and a header that is taken is whole and within its limit.

#![no_main]

use http1::{LONGEST_PROXY_HEADER, proxy_header};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let whole = proxy_header(input);
    let first =
        (0..=input.len()).map(|end| proxy_header(&input[..end])).find(|so_far| *so_far != Ok(None));
    match first {
        None => assert_eq!(Ok(None), whole),
        Some(Ok(early)) => assert_eq!(Ok(early), whole),
        Some(Err(_)) => assert!(whole.is_err()),
    }
    match whole {
        Ok(Some(proxied)) => {
            assert!(proxied.len <= input.len() && proxied.len <= LONGEST_PROXY_HEADER);
            assert_eq!(Ok(Some(proxied)), proxy_header(&input[..proxied.len]));
            assert_eq!(Ok(None), proxy_header(&input[..proxied.len - 1]));
        }
        Ok(None) => assert!(input.len() < LONGEST_PROXY_HEADER),
        Err(_) => {}
    }
});
