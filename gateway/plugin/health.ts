// Policy `health`: whether the gateway lives, and whether it is worth sending requests to.
import { sendDocument } from './answer.ts';
import { actionSchema, type Policy } from './exchange.ts';
import { isRead } from './read-only.ts';
import type { ServiceDirectory } from './service.ts';

/** @param draining true from the moment the process was told to stop */
export function health(services: ServiceDirectory, draining: () => boolean): Policy {
  return {
    name: 'health',
    schema: actionSchema('health'),
    policy: () => (request, response) => {
      if (!isRead(request, response)) return;
      const headers = ['Cache-Control', 'no-store'];
      if (request.path === '/health/live') {
        sendDocument(request, response, { text: JSON.stringify({ status: 'live' }), headers });
        return;
      }
      const states = [...services.states];
      const ready = !draining() && states.every(([, up]) => up);
      const checks = Object.fromEntries(states.map(([name, up]) => [name, up ? 'ok' : 'failing']));
      const text = JSON.stringify({ status: ready ? 'ready' : 'not ready', checks });
      sendDocument(request, response, { status: ready ? 200 : 503, text, headers });
    },
  };
}
