// The processes of a service, as test files use them.
import type pg from 'pg';
import type { ServiceName } from '../shop/index.ts';
import type { TestClient } from './client.ts';
import type { TestDatabase } from './database.ts';
import type { TestIssuer } from './tokens.ts';

export interface TestService {
  readonly url: string;
  readonly client: TestClient;
  /** A pool that connects as the service's own role. */
  readonly database: pg.Pool;
  /** Returns the output of the process so far. */
  output(): string;
  /** Sends a signal to the process and waits until it has exited. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts the process again on the same port and database. `environment` is added to the first environment. */
  restart(environment?: Readonly<Record<string, string>>): Promise<void>;
}

export interface TestServices {
  /** @throws when the service was not started */
  service(name: ServiceName): TestService;
  readonly issuer: TestIssuer;
  readonly database: TestDatabase;
  /** The folder in which the notifications service writes its e-mails. */
  readonly mailFolder: string;
  stop(): Promise<void>;
}
