// A DNS server for tests (RFC 1035): it answers look-ups of A and AAAA with the addresses that the test gives.
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';

export interface TestDns {
  readonly port: number;
  /** The names that were looked up, each once for A and once for AAAA. */
  readonly lookups: string[];
  close(): Promise<void>;
}

const typeA = 1;
const typeAaaa = 28;

/** @param answer returns the addresses of a name at this look-up */
export async function startTestDns(answer: (name: string) => readonly string[]): Promise<TestDns> {
  const socket: Socket = createSocket('udp4');
  const lookups: string[] = [];
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query);
    lookups.push(name);
    const records = answer(name)
      .filter((one) => (type === typeA ? isIPv4(one) : type === typeAaaa && !isIPv4(one)))
      .map((one) => toRecord(type, toBytes(one)));
    const header = Buffer.from(query.subarray(0, 12));
    header.writeUInt16BE(0x8580, 2);
    header.writeUInt16BE(records.length, 6);
    header.writeUInt32BE(0, 8);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    port: socket.address().port,
    lookups,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 };
}

/** A record of the asked name that no resolver keeps. */
function toRecord(type: number, data: Buffer): Buffer {
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, data.length]);
  return Buffer.concat([head, data]);
}

function toBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = address.split('::');
  const groups = (text: string): string[] => (text === '' ? [] : text.split(':'));
  const [first, last] = [groups(head), groups(tail ?? '')];
  const all = tail === undefined ? first : [...first, ...Array(8 - first.length - last.length).fill('0'), ...last];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
