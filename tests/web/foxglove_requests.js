// A Foxglove client made of Foxglove's own package, which does what its standard input says.
//
// usage: node foxglove_requests.js MODULES URL SUBPROTOCOL
//
// Each line of the input is {"call": METHOD, "with": [ARGUMENT, …]}: a method of FoxgloveClient. Bytes are {"bytes":
// TEXT}. Prints {"event": NAME, "value": …} for each event. Ends with the input.
"use strict";

const path = require("path");
const readline = require("readline");
const [modules, url, subprotocol] = process.argv.slice(2);
const { FoxgloveClient } = require(path.join(modules, "@foxglove/ws-protocol"));
const WebSocket = require(path.join(modules, "ws"));

const textOf = (view) => new TextDecoder().decode(new Uint8Array(view.buffer, view.byteOffset, view.byteLength));
const shown = (key, value) => (ArrayBuffer.isView(value) ? { bytes: textOf(value) } : value);
const read = (key, value) => {
  if (value === null || typeof value.bytes !== "string") return value;
  const bytes = new TextEncoder().encode(value.bytes);
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
};

const client = new FoxgloveClient({ ws: new WebSocket(url, [subprotocol]) });
for (const event of ["error", "status", "serverInfo", "parameterValues", "advertiseServices", "unadvertiseServices",
  "serviceCallResponse", "serviceCallFailure"]) {
  client.on(event, (value) => process.stdout.write(JSON.stringify({ event, value }, shown) + "\n"));
}

const input = readline.createInterface({ input: process.stdin });
input.on("line", (line) => {
  const order = JSON.parse(line, read);
  client[order.call](...order.with);
});
input.on("close", () => client.close());
