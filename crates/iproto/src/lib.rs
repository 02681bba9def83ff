//! iproto
