// An SMTP server whose replies a test decides, including faulty ones.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** The reply to a command: a line without its line end, `usual`, or undefined to disconnect. */
type Script = (asked: { readonly command: string; readonly to: string }) => Promise<string> | string | undefined;

export interface ScriptedMailServer {
  readonly url: string;
  /**
   * Returns the reply to each of `EHLO`, `MAIL`, `RCPT`, `DATA` and so on, and to `.`, the end of a complete message.
   */
  script: Script;
  /** The recipients of all complete messages, in order. */
  readonly delivered: string[];
  close(): Promise<void>;
}

const usual: Readonly<Record<string, string>> = { DATA: '354 go on', QUIT: '221 bye' };

export async function startScriptedMailServer(): Promise<ScriptedMailServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    socket.write('220 mail.example\r\n');
    void talk(socket, mailServer).catch(() => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const mailServer: ScriptedMailServer = {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    script: () => 'usual',
    delivered: [],
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
  return mailServer;
}

async function talk(socket: Socket, server: ScriptedMailServer): Promise<void> {
  let rest = '';
  let to = '';
  let message = false;
  for await (const chunk of socket) {
    rest += String(chunk);
    for (let end = rest.indexOf('\r\n'); end >= 0; end = rest.indexOf('\r\n')) {
      const line = rest.slice(0, end);
      rest = rest.slice(end + 2);
      if (message && line !== '.') continue;
      const command: string = message ? '.' : line.slice(0, 4).toUpperCase();
      if (command === 'RCPT') to = /<(.*)>/.exec(line)?.[1] ?? '';
      if (message) server.delivered.push(to);
      const said = await server.script({ command, to });
      if (said === undefined) return void socket.destroy();
      const reply: string = said === 'usual' ? (usual[command] ?? '250 ok') : said;
      message = command === 'DATA' && reply.startsWith('354');
      socket.write(`${reply}\r\n`);
    }
  }
}
