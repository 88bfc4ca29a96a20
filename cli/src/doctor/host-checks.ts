// Checks of the host: Node.js, the environment of every process, the data folder, the disk, the gateway's port.
import { access, constants, mkdir, stat, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { toReason } from '@shop/shared/runtime';
import { operatorCommand } from '@shop/shared/shop';
import { settingsMistakes } from '../shop/check-settings.ts';
import type { DataFolder } from '../shop/data-folder.ts';
import { claimPort } from '../shop/gateway-port.ts';
import type { Settings } from '../shop/settings.ts';
import { type Finding, failed, ok, warning } from './finding.ts';
import type { Wanted } from './settings.ts';

const oldestNode = 24;
const megabyte = 1024 ** 2;
const tooLittle = 200 * megabyte;
const little = 1_000 * megabyte;

export function checkNode(): Finding {
  const version = process.versions.node;
  return Number.parseInt(version, 10) >= oldestNode
    ? ok('node', version)
    : failed(
        'node',
        `${version} is older than ${oldestNode}`,
        `run npm ci, which installs the right one, and use ${operatorCommand('start')}`,
      );
}

/** Reads the settings of every process as the process itself would. */
export async function checkConfiguration(given: NodeJS.ProcessEnv): Promise<Finding[]> {
  const mistakes = await settingsMistakes(given);
  const remedy =
    'correct it in the environment or in .env, then run doctor again; .env.example describes every variable';
  if (mistakes.length > 0) return mistakes.map((mistake) => failed('configuration', mistake, remedy));
  return [ok('configuration', 'the settings of all processes are valid')];
}

/** Checks the folder, the permissions of its secrets, and the free space of its disk. */
export async function checkDataFolder(folder: DataFolder): Promise<Finding[]> {
  const place = await nearestFolder(folder.path);
  const writable = await access(place, constants.W_OK).then(
    () => true,
    () => false,
  );
  const findings = [
    writable
      ? ok('data folder', folder.path)
      : failed(
          'data folder',
          `${folder.path} cannot be written`,
          'set SHOP_DATA_DIR, or give yourself the right to write',
        ),
  ];
  const secrets = await stat(folder.secrets).catch(() => undefined);
  if (secrets !== undefined) {
    findings.push(
      (secrets.mode & 0o077) === 0
        ? ok('secrets', 'readable by their owner alone')
        : failed('secrets', `others may read ${folder.secrets}`, `chmod 600 ${folder.secrets}`),
    );
  }
  const { bavail, bsize } = await statfs(place);
  const free = bavail * bsize;
  const detail = `${Math.round(free / megabyte)} MB free`;
  const remedy = 'make room on this disk: PostgreSQL stops when it is full';
  if (free < tooLittle) findings.push(failed('disk', detail, remedy));
  else findings.push(free < little ? warning('disk', detail, remedy) : ok('disk', detail));
  return findings;
}

/** Returns the folder, or its nearest existing parent. */
async function nearestFolder(path: string): Promise<string> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true || dirname(path) === path ? path : nearestFolder(dirname(path));
}

/** Checks whether the gateway could listen on its port while the shop is stopped. */
export async function checkPort({ gatewayHost, gatewayPort }: Settings): Promise<Finding> {
  try {
    await claimPort(gatewayHost, gatewayPort, 0);
    return ok('gateway port', `${gatewayPort} is free`);
  } catch (error) {
    const message = toReason(error);
    return failed('gateway port', message, 'end what listens there, or set GATEWAY_PORT');
  }
}

/** Checks that the folder of e-mails can be written, or that the SMTP server can be reached. */
export async function checkMail({ smtpUrl, mailDir }: Wanted, folder: DataFolder): Promise<Finding> {
  if (smtpUrl !== undefined && URL.canParse(smtpUrl)) return checkSmtp(new URL(smtpUrl));
  const path = mailDir ?? folder.mail;
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    await access(path, constants.W_OK);
    return ok('e-mail', `written into ${path}`);
  } catch (error) {
    const reason = `${path} cannot be written (${(error as NodeJS.ErrnoException).code})`;
    return failed('e-mail', reason, 'set MAIL_DIR to a folder that can be written, or SMTP_URL');
  }
}

async function checkSmtp({ protocol, hostname, port }: URL): Promise<Finding> {
  const { connect } = await import('node:net');
  const socket = connect({ host: hostname, port: Number(port) || (protocol === 'smtps:' ? 465 : 587) });
  try {
    await new Promise((resolve, reject) => {
      socket.once('connect', resolve).once('error', reject);
      socket.setTimeout(5_000, () => reject(new Error('no answer')));
    });
    return ok('e-mail', `${hostname} takes connections`);
  } catch (error) {
    const reason = toReason(error);
    return failed('e-mail', `${hostname}: ${reason}`, 'check SMTP_URL; until then e-mails wait and are tried again');
  } finally {
    socket.destroy();
  }
}
