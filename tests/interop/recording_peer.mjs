// Reads MCAP files with npm's @mcap/core, for recording_programs_test.cpp.
// usage: node recording_peer.mjs NODE_MODULES indexed|streamed FILE; prints lines as recording_peer.py does
import { createRequire } from "node:module";
import { open } from "node:fs/promises";
import { readFileSync } from "node:fs";

const [modules, how, path] = process.argv.slice(2);
const { McapIndexedReader, McapStreamReader } = createRequire(modules + "/")("@mcap/core");

function crc32(bytes) {
  let rest = 0xffffffff;
  for (const byte of bytes) {
    rest ^= byte;
    for (let bit = 0; bit < 8; bit++) rest = (rest >>> 1) ^ (rest & 1 ? 0xedb88320 : 0);
  }
  return ~rest >>> 0;
}

const schemas = new Map();
const channels = new Map();
function show(message) {
  const channel = channels.get(message.channelId);
  const schema = schemas.get(channel.schemaId);
  const type = schema
    ? `${schema.name}|${schema.encoding}|${channel.messageEncoding}|${schema.data.length}`
    : `||${channel.messageEncoding}|0`;
  const crc = crc32(message.data).toString(16).padStart(8, "0");
  console.log(
    `message ${channel.topic} ${message.sequence} ${message.logTime} ${message.publishTime}` +
      ` ${message.data.length} ${crc} ${type}`,
  );
}

if (how === "indexed") {
  const file = await open(path);
  const size = (await file.stat()).size;
  const readable = {
    size: async () => BigInt(size),
    read: async (offset, length) => {
      const buffer = new Uint8Array(Number(length));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, Number(offset));
      if (bytesRead !== buffer.length) throw new Error(`${path} ends too early`);
      return buffer;
    },
  };
  const reader = await McapIndexedReader.Initialize({ readable });
  for (const [id, channel] of reader.channelsById) channels.set(id, channel);
  for (const [id, schema] of reader.schemasById) schemas.set(id, schema);
  for await (const message of reader.readMessages()) show(message);
} else {
  const reader = new McapStreamReader({ validateCrcs: true });
  reader.append(readFileSync(path));
  for (let record; (record = reader.nextRecord()); ) {
    if (record.type === "Schema") schemas.set(record.id, record);
    if (record.type === "Channel") channels.set(record.id, record);
    if (record.type === "Message") show(record);
  }
  if (!reader.done()) throw new Error(`${path} is not whole`);
}
