// Senders that each add a byte to their request every half second, each in its own time, and begin again when cut off.
// A process of their own: what they do must not hold up whoever measures. Says when all of them have begun.
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const [port = 0, count = 0] = process.argv.slice(2).map(Number);
/** Milliseconds between two bytes of a sender; in how many groups the senders take turns. */
const everyByte = 500;
const turns = 500;
/** The gateway's patience: begun over this time, they go on being cut off one after the other. */
const begunWithin = 10_000;
const start = 'POST /v1/products/search HTTP/1.1\r\nHost: shop\r\nContent-Length: 1000\r\n\r\n';

/** Where it can, from an address of its own: of a crowd behind one address the gateway refuses most at once. */
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
  // Something else may have had the core: the turns that were missed are made up for.
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
