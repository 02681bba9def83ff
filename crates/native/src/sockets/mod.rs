//! WebSockets.

pub mod websocket;
pub mod websocket_methods;
pub mod websocket_news;
pub mod websocket_opening;
