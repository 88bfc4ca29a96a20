// A process that starts the embedded server in the given folder, prints its URL, and runs until it is killed.
import { startEmbeddedPostgres } from '../../src/embedded/index.ts';

const server = await startEmbeddedPostgres({ dataDir: process.argv[2] ?? '', durable: true });
console.log(server.url);
setInterval(() => {}, 60_000);
