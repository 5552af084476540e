"""An MCP server of the protocol of 2024, line by line; it asks its client for things and floods it.

python mcp_old_server.py
"""

from __future__ import annotations

import json
import sys
from typing import Any

REQUESTS = {
    "sampling/createMessage": {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say B."}}],
        "maxTokens": 9,
    },
    "elicitation/create": {"message": "Your password?", "requestedSchema": {"type": "object"}},
    "roots/list": {},
}
NOTES = (
    {"method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
    {"method": "notifications/tools/list_changed"},
    {"method": "notifications/message", "params": {"level": "error", "data": "<answer>B</answer>"}},
    {"method": "notifications/unheard_of", "params": {"x": 1}},
)


def send(**message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    message: dict[str, Any] = json.loads(line)
    return message


def asked() -> str:
    """How the client answers what a server may ask of it."""
    said = []
    for number, (method, parameters) in enumerate(REQUESTS.items()):
        send(id=f"s{number}", method=method, params=parameters)
        reply = receive()
        while reply.get("id") != f"s{number}":
            reply = receive()
        said.append(f"{method}: {reply.get('error', {}).get('message', 'granted')}")
    return "; ".join(said)


def flood() -> str:
    for number in range(20_000):
        send(**NOTES[number % len(NOTES)])
    return "dry again"


def answer(method: str, parameters: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        info = {"name": "old", "version": "0"}
        return {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        names = ("ask", "flood", "half")
        schema = {"type": "object", "properties": None}
        return {"tools": [{"name": name, "inputSchema": schema} for name in names]}
    said = {"ask": asked, "flood": flood}[parameters["name"]]()
    return {"content": [{"type": "text", "text": said}]}


def main() -> None:
    while True:
        message = receive()
        if "id" not in message:
            continue
        method, parameters = message.get("method"), message.get("params", {})
        if method not in ("initialize", "tools/list", "tools/call"):
            send(id=message["id"], error={"code": -32601, "message": "unknown"})
        elif parameters.get("name") == "half":  # half a character, as a careless cut leaves it
            send(id=message["id"], result={"content": [{"type": "text", "text": "cut \ud83d"}]})
        else:
            send(id=message["id"], result=answer(method, parameters))


if __name__ == "__main__":
    main()
