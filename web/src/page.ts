// The request for a page and its response. The gateway checks the request, and adds the header fields of every response.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '@shop/shared/auth';

export interface PageRequest extends Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'socket'> {
  readonly id: string;
  readonly traceparent: string;
  /** The path without the query. */
  readonly path: string;
  /** Whether the gateway has admitted the request to an operation, and for which caller. */
  readonly authenticated: boolean;
  readonly caller: Caller | undefined;
  readonly authorization: string | undefined;
}

export interface PageResponse {
  /** Default 200. */
  readonly status?: number;
  /** The media type; by default that of JSON. */
  readonly type?: string;
  /** The body; undefined for a response without content, and for a stream. */
  readonly body?: string | Buffer;
  /** Further header fields, flat. */
  readonly headers?: readonly string[];
  /** The Content-Security-Policy; by default nothing may be loaded. */
  readonly contentPolicy?: string;
  /** Writes the body after the header section. It is called once, also when the client has left. */
  readonly stream?: (response: ServerResponse) => void;
}

/** Responds to GET and HEAD. @throws Problem */
export type Page = () => PageResponse | Promise<PageResponse>;

/** Returns the page at the path of a request; undefined where nothing is. */
export type FindPage = (request: PageRequest) => Page | undefined;

export const html = 'text/html; charset=utf-8';
