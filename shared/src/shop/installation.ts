// The commands that an operator runs, as the installation of the shop requires them.
import { type Environment, oneOf, readConfig } from '../runtime/config.ts';

const installations = ['npm', 'compose', 'kubernetes'] as const;
export type Installation = (typeof installations)[number];

/**
 * The purpose of a command: to start the shop or a new version of it, to run a command of the command line, to show the
 * log of a process, or to find the fault of an installation.
 */
export type CommandPurpose = 'start' | 'shop' | 'logs' | 'examine';

type Form = (words: string) => string;

const kubectl = 'kubectl --namespace shop';

const forms: Readonly<Record<Installation, Readonly<Record<CommandPurpose, Form>>>> = {
  npm: {
    start: () => 'npm start',
    shop: (words) => `npm run shop -- ${words}`,
    logs: (process) => `npm run shop -- logs ${process}`,
    examine: () => 'npm run shop -- doctor',
  },
  compose: {
    start: () => 'docker compose up --detach',
    shop: (words) => `docker compose run --rm operator ${words}`,
    logs: (process) => `docker compose logs ${process}`,
    examine: () => 'docker compose ps --all',
  },
  kubernetes: {
    start: () => 'kubectl apply --kustomize deploy/kubernetes/overlays/production',
    shop: (words) => `${kubectl} exec operator-0 -- node src/shop.ts ${words}`,
    logs: (process) => `${kubectl} logs --prefix --selector app.kubernetes.io/name=${process}`,
    examine: () => `${kubectl} get pods`,
  },
};

/**
 * Returns how the shop was started: by npm, Docker Compose or Kubernetes.
 * @throws ConfigError when SHOP_INSTALLATION is none of them
 */
export function readInstallation(environment: Environment): Installation {
  return readConfig(environment, { installation: oneOf('SHOP_INSTALLATION', installations, 'npm') }).installation;
}

/**
 * Returns a command for the operator of this installation.
 * @param words the words after the prefix: a command of the command line, or the name of a process for `logs`
 * @throws ConfigError when SHOP_INSTALLATION is not an installation
 * @example
 * operatorCommand('shop', 'keys rotate') // npm run shop -- keys rotate
 */
export function operatorCommand(purpose: CommandPurpose, words = '', environment: Environment = process.env): string {
  return forms[readInstallation(environment)][purpose](words).trimEnd();
}
