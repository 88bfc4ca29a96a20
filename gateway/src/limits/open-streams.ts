// Step `open-streams`: how many event streams one client network may have open. Ends all of them when the process stops.
import { Problem } from '@shop/shared/problem';
import { clientNetwork } from '@shop/shared/runtime';
import type { GatewayResponse } from '../entry/gateway-request.ts';
import type { Step } from '../entry/policy.ts';
import type { ApiLimit } from './limit-config.ts';

/** Milliseconds between two ends of all streams of a process that stops. Clients open further ones until its port closes. */
const endEvery = 500;

export class OpenStreams {
  readonly #responses = new Set<GatewayResponse>();
  readonly #perNetwork = new Map<string, number>();

  /**
   * Counts the streams of operations with `streamsPerAddress`.
   * @throws Problem 429 when the client network has as many open
   */
  limit({ operations = {} }: ApiLimit): Step {
    return (request, response) => {
      const bound = operations[request.operation?.operationId ?? '']?.streamsPerAddress;
      // The client may have left while its token was verified. Then `close` was already emitted.
      if (bound === undefined || response.destroyed) return undefined;
      const network = clientNetwork(request.client);
      const open = this.#perNetwork.get(network) ?? 0;
      if (open >= bound) throw tooManyStreams(open);
      this.#perNetwork.set(network, open + 1);
      this.#responses.add(response);
      // A stream may end because the process stops.
      response.shouldKeepAlive = false;
      response.once('close', () => {
        this.#responses.delete(response);
        this.#leave(network);
      });
      return undefined;
    };
  }

  /** Ends all streams, also those that are opened later. A client that does not read its stream is disconnected. */
  end(): void {
    const endAll = (): void => {
      for (const response of this.#responses) {
        if (!response.headersSent) continue;
        if (response.writableNeedDrain) response.destroy();
        else response.end();
      }
    };
    endAll();
    setInterval(endAll, endEvery).unref();
  }

  #leave(network: string): void {
    const left = (this.#perNetwork.get(network) ?? 0) - 1;
    if (left > 0) this.#perNetwork.set(network, left);
    else this.#perNetwork.delete(network);
  }
}

function tooManyStreams(open: number): Problem {
  const headers = { 'Retry-After': '60' };
  return new Problem('too-many-requests', `This address has ${open} open streams; close one of them.`, { headers });
}
