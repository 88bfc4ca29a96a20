// Senders that each send a byte of their request every half second, and start again when disconnected. They run in a
// separate process so that they do not delay the measurement. The process sends a message when all of them have
// started.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
/** Milliseconds between two bytes of a sender, and the number of groups that send one after the other. */
const everyByte = 500;
const turns = 500;
/**
 * The time-out of the gateway, in milliseconds. The senders start spread over this time, so they are also disconnected
 * one after the other.
 */
const begunWithin = 10_000;
const start = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 1000\r\n\r\n';

/** Each sender has its own address where possible, because the gateway bounds the connections of one address. */
function begin(index: number): Socket {
  const localAddress = process.platform === 'linux' ? `127.1.${index >> 8}.${index & 255}` : '127.0.0.1';
  const socket = connect({ port, host: '127.0.0.1', localAddress });
  socket.on('error', () => {});
  socket.resume();
  socket.write(start);
  return socket;
}

const sockets: Socket[] = [];
const began = performance.now();
let turn = 0;
setInterval(() => {
  // Sends the bytes that are overdue because another process had the core.
  for (const due = ((performance.now() - began) / everyByte) * turns; turn < due; turn += 1) {
    for (let index = turn % turns; index < sockets.length; index += turns) {
      const socket = sockets[index];
      if (socket?.writable) socket.write('x');
      else sockets[index] = begin(index);
    }
  }
}, everyByte / turns);

while (sockets.length < count) {
  const due = Math.min(1, (performance.now() - began) / begunWithin) * count;
  while (sockets.length < due) sockets.push(begin(sockets.length));
  await pause(10);
}
process.send?.('begun');
