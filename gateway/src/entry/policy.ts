// The interface of a policy for the engine, and of a step in the request path of the API.
import type { GatewayConfig } from './gateway-config.ts';
import type { GatewayRequest, GatewayResponse } from './gateway-request.ts';

export type Middleware = (request: GatewayRequest, response: GatewayResponse, next: (error?: unknown) => void) => void;

/** A policy as the engine registers it: a name, a schema of its `action`, and a factory of middleware. */
export interface Policy {
  readonly name: string;
  readonly schema: { readonly $id: string } & Record<string, unknown>;
  readonly policy: (action: never, config: { readonly gatewayConfig: GatewayConfig }) => Middleware;
}

/** One step of an API request. To stop the request, it throws, or rejects with, a problem. */
export type Step = (request: GatewayRequest, response: GatewayResponse) => Promise<void> | undefined;

/** Returns the schema of a policy's action. Every listed property is required. */
export function actionSchema(name: string, properties: Record<string, object> = {}): Policy['schema'] {
  return { $id: `policy:${name}`, type: 'object', properties, required: Object.keys(properties) };
}
