// Machines of a cluster: network namespaces of Linux. Each has a link to the other machines and a link to the processes
// of the shop, and either link can be cut: the packets of both directions are dropped, and connections stay open.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { RunAs } from '../../../shared/src/embedded/run-as.ts';
import { findProgram } from './programs.ts';

const run = promisify(execFile);

/** `peers` leads to the other machines, `shop` to the processes of the shop and to the test. */
export type Link = 'peers' | 'shop';
const links: readonly Link[] = ['peers', 'shop'];

export interface Machine {
  readonly name: string;
  /** Its address in the network of each link. */
  readonly address: Readonly<Record<Link, string>>;
  /** Returns the program and the parameters that run a command on this machine, as the user if one is given. */
  command(program: string, parameters: readonly string[], user?: RunAs): [string, string[]];
  cut(...which: readonly Link[]): Promise<void>;
  /** Restores both links. */
  reconnect(): Promise<void>;
}

export interface Machines {
  readonly all: readonly Machine[];
  /** Removes the networks. The processes of the machines must have ended. */
  stop(): Promise<void>;
}

/**
 * Creates machines with these names. Their networks are in the address ranges for tests of network devices (RFC 2544),
 * and no route leads out of them.
 * @throws Error without the permissions of root
 */
export async function startMachines(names: readonly string[]): Promise<Machines> {
  const ip = await findProgram('ip');
  // Concurrent runs use different names and networks.
  const number = process.pid % 256;
  const prefix = `shop-${process.pid}`;
  const hub = `${prefix}-hub`;
  const uplink = `shop${process.pid}`;
  const networks: Readonly<Record<Link, string>> = { peers: `198.18.${number}`, shop: `198.19.${number}` };
  const ipOf = async (text: string): Promise<void> => {
    await run(ip, text.split(' '));
  };
  const stop = async (): Promise<void> => {
    // A link disappears with the namespace of one of its ends.
    for (const namespace of [...names.map((name) => `${prefix}-${name}`), hub])
      await ipOf(`netns del ${namespace}`).catch(() => {});
  };
  const attach = async (namespace: string, link: Link, host: number): Promise<void> => {
    const port = `${link}${host}`;
    await ipOf(`link add ${link} netns ${namespace} type veth peer name ${port} netns ${hub}`);
    await ipOf(`-n ${namespace} addr add ${networks[link]}.${host}/24 dev ${link}`);
    await ipOf(`-n ${namespace} link set ${link} up`);
    await ipOf(`-n ${hub} link set ${port} master ${link} up`);
  };
  try {
    // The bridges have a namespace of their own, because a firewall of this machine may drop what they forward.
    await ipOf(`netns add ${hub}`);
    for (const link of links) {
      await ipOf(`-n ${hub} link add ${link} type bridge`);
      await ipOf(`-n ${hub} link set ${link} up`);
    }
    await ipOf(`link add ${uplink} type veth peer name uplink netns ${hub}`);
    await ipOf(`addr add ${networks.shop}.1/24 dev ${uplink}`);
    await ipOf(`link set ${uplink} up`);
    await ipOf(`-n ${hub} link set uplink master shop up`);
    for (const [index, name] of names.entries()) {
      const namespace = `${prefix}-${name}`;
      await ipOf(`netns add ${namespace}`);
      await ipOf(`-n ${namespace} link set lo up`);
      for (const link of links) await attach(namespace, link, index + 10);
    }
  } catch (cause) {
    await stop();
    throw new Error('the tests of clusters need root, and the permission to create network namespaces', { cause });
  }
  const setLinks = async (host: number, which: readonly Link[], state: 'up' | 'down'): Promise<void> => {
    for (const link of which) await ipOf(`-n ${hub} link set ${link}${host} ${state}`);
  };
  const all = names.map((name, index): Machine => {
    const host = index + 10;
    return {
      name,
      address: { peers: `${networks.peers}.${host}`, shop: `${networks.shop}.${host}` },
      command(program, parameters, { uid, gid } = {}) {
        const user = uid === undefined || gid === undefined ? [] : ['--setgid', String(gid), '--setuid', String(uid)];
        return ['nsenter', [`--net=/run/netns/${prefix}-${name}`, ...user, program, ...parameters]];
      },
      cut: (...which) => setLinks(host, which, 'down'),
      reconnect: () => setLinks(host, links, 'up'),
    };
  });
  return { all, stop };
}
