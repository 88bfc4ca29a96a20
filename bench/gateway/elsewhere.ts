// Reads the bytes of slow senders and disconnects them as the gateway does. It is a separate process, on the core of
// the load generator.
import { type AddressInfo, createServer } from 'node:net';

/** The time-out of the gateway, in milliseconds. */
const patience = 10_000;

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.resume();
  setTimeout(() => socket.destroy(), patience);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
