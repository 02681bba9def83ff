"""A WebSocket echo on picows and uvloop: a listener's callback for each frame, and no coroutine.

usage: echo_picows.py PORT [raw]    raw: the bytes of a message go back as they lie there, never a str
"""

import sys

import uvloop
from picows import WSFrame, WSListener, WSMsgType, WSTransport, ws_create_server


class Echo(WSListener):
    def on_ws_frame(self, transport: WSTransport, frame: WSFrame):
        if frame.msg_type == WSMsgType.CLOSE:
            transport.send_close(frame.get_close_code(), frame.get_close_message())
            transport.disconnect()
        elif frame.msg_type == WSMsgType.TEXT:
            # As the others have it: a str for the program.
            transport.send(WSMsgType.TEXT, frame.get_payload_as_utf8_text().encode())


class RawEcho(Echo):
    def on_ws_frame(self, transport: WSTransport, frame: WSFrame):
        if frame.msg_type == WSMsgType.CLOSE:
            super().on_ws_frame(transport, frame)
        else:
            transport.send(frame.msg_type, frame.get_payload_as_memoryview())


async def main():
    listener = RawEcho if "raw" in sys.argv else Echo
    server = await ws_create_server(lambda _: listener(), "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


uvloop.run(main())
