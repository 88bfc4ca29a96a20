// Reads what slow senders send, and cuts them off as the gateway does. A process of its own, on the core of the load.
import { type AddressInfo, createServer } from 'node:net';

/** The gateway's patience, in milliseconds. */
const patience = 10_000;

const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.resume();
  setTimeout(() => socket.destroy(), patience);
});
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
