// Scripts that run in a service's container with its own secrets, and attempt what the service must not do.

const preamble = `
  const { readFileSync } = require('node:fs');
  const secret = (name) => readFileSync('/run/secrets/' + name, 'utf8');
  const results = {};
`;

/** Runs each statement on its own connection of the service's role, and prints the outcome: `ok` or the SQLSTATE. */
export function databaseAttempts(statements: readonly string[], database?: string): string {
  return `${preamble}
  const pg = require('pg');
  const url = new URL(secret('database-url'));
  ${database === undefined ? '' : `url.pathname = '/${database}';`}
  (async () => {
    for (const statement of ${JSON.stringify(statements)}) {
      const client = new pg.Client({ connectionString: url.href });
      results[statement] = await client.connect().then(() => client.query(statement))
        .then(() => 'ok', (error) => error.code);
      await client.end();
    }
    console.log(JSON.stringify(results));
  })();`;
}

/**
 * Runs each function on its own channel of the service's user, and prints the outcome: `ok` or the code of the refusal.
 * @param works name → JavaScript that uses the confirm channel `channel`
 */
export function brokerAttempts(works: Readonly<Record<string, string>>): string {
  const functions = Object.entries(works).map(
    ([name, work]) => `${JSON.stringify(name)}: async (channel) => { ${work} }`,
  );
  return `${preamble}
  const amqp = require('amqplib');
  const url = new URL(secret('events-url'));
  url.search = '';
  const publish = async (channel, exchange, key) => {
    channel.publish(exchange, key, Buffer.from('{}'));
    await channel.waitForConfirms();
  };
  (async () => {
    const connection = await amqp.connect(url.href);
    for (const [name, work] of Object.entries({ ${functions.join(', ')} })) {
      const channel = await connection.createConfirmChannel();
      const refused = new Promise((resolve) => channel.on('error', ({ code }) => resolve(code)));
      results[name] = await Promise.race([work(channel).then(() => 'ok', ({ code }) => code ?? refused), refused]);
      await channel.close().catch(() => {});
    }
    await connection.close();
    console.log(JSON.stringify(results));
  })();`;
}

/** Whether a user can log in at the broker. */
export function brokerLogin(user: string, password: string): string {
  return `${preamble}
  const amqp = require('amqplib');
  const url = Object.assign(new URL(secret('events-url')), {
    username: '${user}', password: '${password}', search: '',
  });
  amqp.connect(url.href).then(() => 'ok', (error) => error.message).then((said) => {
    console.log(JSON.stringify(said));
    process.exit(0);
  });`;
}

/** Which of these addresses (host:port) a connection can be made to. */
export function reachable(addresses: readonly string[]): string {
  return `
  const { connect } = require('node:net');
  const tryOne = (address) => new Promise((resolve) => {
    const [host, port] = address.split(':');
    const socket = connect({ host, port: Number(port), timeout: 2000 }, () => resolve(address));
    for (const event of ['error', 'timeout']) socket.on(event, () => { socket.destroy(); resolve(); });
  });
  Promise.all(${JSON.stringify(addresses)}.map(tryOne)).then((found) => {
    console.log(JSON.stringify(found.filter((address) => address !== undefined)));
    process.exit(0);
  });`;
}
