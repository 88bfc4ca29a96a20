// A minimal Redis server for the rate limiter: the protocol, and the one script that the rate limiter runs.
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { freePorts } from '@shop/shared/embedded';

export interface RedisServer {
  readonly url: string;
  readonly counts: ReadonlyMap<string, { value: number; until: number }>;
  listen(): Promise<void>;
  close(): Promise<void>;
  /** Accepts connections and commands without answering them, or answers again. */
  hang(silent: boolean): void;
}

/** Listens on a free loopback port, and on the same port again after `close`. */
export async function startRedis(): Promise<RedisServer> {
  const counts = new Map<string, { value: number; until: number }>();
  const sockets = new Set<Socket>();
  let silent = false;
  const server: Server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)).on('error', () => {}));
    let text = '';
    let queue: string[][] | undefined;
    const take = (words: string[]): string => {
      const name = words[0]?.toLowerCase();
      if (name === 'multi') {
        queue = [];
        return '+OK\r\n';
      }
      if (name !== 'exec') return queue === undefined ? answer(words, counts) : queueUp(queue, words);
      const answers = (queue ?? []).map((queued) => answer(queued, counts));
      queue = undefined;
      return `*${answers.length}\r\n${answers.join('')}`;
    };
    socket.on('data', (data) => {
      text += data.toString('latin1');
      for (;;) {
        const parsed = readCommand(text);
        if (parsed === undefined) return;
        text = parsed.rest;
        const answered = take(parsed.words);
        if (!silent) socket.write(answered);
      }
    });
  });
  const listen = async (port: number): Promise<void> => {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  };
  const [port = 0] = await freePorts(1);
  await listen(port);
  return {
    url: `redis://127.0.0.1:${port}`,
    counts,
    listen: () => listen(port),
    hang(on) {
      silent = on;
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function queueUp(queue: string[][], words: string[]): string {
  queue.push(words);
  return '+QUEUED\r\n';
}

/** One command in RESP: an array of bulk strings. */
function readCommand(text: string): { words: string[]; rest: string } | undefined {
  const head = /^\*(\d+)\r\n/.exec(text);
  if (head === null) return undefined;
  let at = head[0].length;
  const words: string[] = [];
  for (let count = Number(head[1]); count > 0; count -= 1) {
    const size = /^\$(\d+)\r\n/.exec(text.slice(at));
    if (size === null) return undefined;
    const start = at + size[0].length;
    at = start + Number(size[1]) + 2;
    if (text.length < at) return undefined;
    words.push(text.slice(start, at - 2));
  }
  return { words, rest: text.slice(at) };
}

function answer(words: readonly string[], counts: Map<string, { value: number; until: number }>): string {
  const [name = '', first = '', , key = '', points = '', seconds = ''] = words;
  const now = Date.now();
  switch (name.toLowerCase()) {
    case 'evalsha':
    case 'eval': {
      const known = counts.get(key);
      const counted =
        known !== undefined && known.until > now ? known : { value: 0, until: now + Number(seconds) * 1_000 };
      counted.value += Number(points);
      counts.set(key, counted);
      return `*2\r\n:${counted.value}\r\n:${counted.until - now}\r\n`;
    }
    case 'set':
      counts.set(first, { value: 1, until: now + Number(points) * 1_000 });
      return '+OK\r\n';
    case 'client':
    case 'select':
      return '+OK\r\n';
    case 'get':
    case 'pttl': {
      const counted = counts.get(first);
      const gone = counted === undefined || counted.until <= now;
      if (name.toLowerCase() === 'pttl') return `:${gone ? -2 : counted.until - now}\r\n`;
      return gone ? '$-1\r\n' : `$${String(counted.value).length}\r\n${counted.value}\r\n`;
    }
    case 'info':
      return bulk('redis_version:7.4.0\r\nloading:0\r\n');
    default:
      return `-ERR unknown command '${name}'\r\n`;
  }
}

function bulk(text: string): string {
  return `$${text.length}\r\n${text}\r\n`;
}
