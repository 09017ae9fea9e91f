// A Foxglove client made of Foxglove's own packages: decodes one message of each channel, then publishes.
//
// usage: node foxglove_client.js MODULES URL SUBPROTOCOL COUNT
//
// Prints {"topic", "value"} for each of the first COUNT topics, then publishes one message on out/ENCODING for each
// encoding, prints {"published": true}, and waits until its standard input ends.
"use strict";

const path = require("path");
const [modules, url, subprotocol, count] = process.argv.slice(2);
const load = (name) => require(path.join(modules, name));
const { FoxgloveClient } = load("@foxglove/ws-protocol");
const { parse: parseRos } = load("@foxglove/rosmsg");
const { MessageReader, MessageWriter } = load("@foxglove/rosmsg2-serialization");
const protobuf = load("protobufjs");
load("protobufjs/ext/descriptor");
const flatbuffers = load("flatbuffers");
const WebSocket = load("ws");

const print = (value) => process.stdout.write(JSON.stringify(value) + "\n");
const bytesOf = (view) => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);

// The two fields of arm.Pose, as flatc's code reads them.
function readFlatbuffer(bytes) {
  const buffer = new flatbuffers.ByteBuffer(bytes);
  const table = buffer.readInt32(buffer.position()) + buffer.position();
  const x = buffer.__offset(table, 4);
  const name = buffer.__offset(table, 6);
  return { x: x ? buffer.readFloat64(table + x) : 0, name: name ? buffer.__string(table + name) : "" };
}

function protobufType(channel) {
  const root = protobuf.Root.fromDescriptor(Buffer.from(channel.schema, "base64"));
  return root.lookupType(channel.schemaName);
}

function decode(channel, view) {
  const bytes = bytesOf(view);
  switch (channel.encoding) {
    case "json":
      return JSON.parse(new TextDecoder().decode(bytes));
    case "flatbuffer":
      if (Buffer.from(channel.schema, "base64").toString("latin1", 4, 8) !== "BFBS") throw new Error("no binary schema");
      return readFlatbuffer(bytes);
    case "protobuf": {
      const { x, name } = protobufType(channel).decode(bytes);
      return { x, name };
    }
    case "cdr":
      return new MessageReader(parseRos(channel.schema, { ros2: true })).readMessage(view);
    default:
      throw new Error(`encoding ${channel.encoding}`);
  }
}

const socket = new WebSocket(url, [subprotocol]);
const client = new FoxgloveClient({ ws: socket });
const channels = new Map();
const subscribed = new Map();
const types = new Map();
const seen = new Set();
let canPublish = false;

client.on("error", (error) => print({ error: String(error) }));
client.on("status", (status) => print({ status: status.message }));
client.on("serverInfo", (info) => {
  canPublish = info.capabilities.includes("clientPublish");
  print({ protocol: socket.protocol, capabilities: info.capabilities });
});
client.on("advertise", (added) => {
  for (const channel of added) {
    channels.set(channel.id, channel);
    types.set(channel.topic, channel);
    subscribed.set(client.subscribe(channel.id), channel);
  }
});
client.on("message", ({ subscriptionId, data }) => {
  const channel = subscribed.get(subscriptionId);
  if (seen.has(channel.topic) || seen.size === Number(count)) return;
  seen.add(channel.topic);
  print({ topic: channel.topic, value: decode(channel, data) });
  if (seen.size === Number(count) && canPublish) publish();
});

function publish() {
  const flatbuffer = new flatbuffers.Builder(64);
  const name = flatbuffer.createString("node");
  flatbuffer.startObject(2);
  flatbuffer.addFieldFloat64(0, 2.5, 0);
  flatbuffer.addFieldOffset(1, name, 0);
  flatbuffer.finish(flatbuffer.endObject());
  const ros = new MessageWriter(parseRos(types.get("in/cdr").schema, { ros2: true }));
  const value = { x: 2.5, name: "node" };
  const samples = {
    json: new TextEncoder().encode(JSON.stringify(value)),
    flatbuffer: flatbuffer.asUint8Array(),
    protobuf: protobufType(types.get("in/protobuf")).encode(value).finish(),
    cdr: ros.writeMessage(value),
  };
  for (const [encoding, data] of Object.entries(samples)) {
    const like = types.get(`in/${encoding}`);
    const { schemaName, schema, schemaEncoding } = like;
    client.sendMessage(client.advertise({ topic: `out/${encoding}`, encoding, schemaName, schema, schemaEncoding }), data);
  }
  print({ published: true });
}

process.stdin.on("end", () => client.close());
process.stdin.resume();
