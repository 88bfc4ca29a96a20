// Sends framing variants to a gateway and compares its responses with the requests that the service received.
import type { Parts, Variant } from './framing-variants.ts';
import { sendRaw } from './raw.ts';
import type { TestGateway } from './start-gateway.ts';
import type { SeenRequest } from './stub-service.ts';

export interface FramingCheck {
  /** The paths and tokens of the variant at an index. */
  partsOf(index: number): Parts;
  /** Sends the variants. @returns a line for each fault */
  faultsOf(
    variants: readonly Variant[],
    options?: { readonly silence?: number; readonly together?: number },
  ): Promise<string[]>;
}

/** Milliseconds without a response after which the check stops waiting. A busy machine answers late. */
export const usualSilence = 4_000;

/** A request as the service received it, in a form that can be compared. */
export function shown(request: SeenRequest | undefined) {
  const { method = '', url = '', body = '', headers = {} } = request ?? {};
  return { method, url, body, authorization: headers.authorization };
}

/** @param most the number of variants to check */
export async function createFramingCheck(gateway: TestGateway, most: number): Promise<FramingCheck> {
  const tokens = await Promise.all(Array.from({ length: 2 * most }, () => gateway.issuer.sign()));
  const partsOf = (index: number): Parts => {
    const path = `/v1/orders/f${index}x`;
    const [token = '', hiddenToken = ''] = tokens.slice(2 * index);
    return { path, hiddenPath: `${path}-hidden`, token, hiddenToken };
  };
  const check = async (index: number, { name, bytes }: Variant, silence: number): Promise<string[]> => {
    const { path, token, hiddenPath, hiddenToken } = partsOf(index);
    const { answers } = await sendRaw(gateway.port, bytes, silence);
    const answered = answers
      .filter(({ status, body }) => status < 300 && body !== '')
      .map(({ body }) => JSON.parse(body));
    const empty = answers.filter(({ status, body }) => status < 300 && body === '').length;
    const seen = gateway.service.seen.filter(({ url }) => url.startsWith(path)).map(shown);
    const faults: string[] = [];
    const whole = seen.filter(({ method }) => method !== 'HEAD' && method !== 'OPTIONS');
    if (
      JSON.stringify(answered.filter(({ method }) => method !== 'OPTIONS')) !== JSON.stringify(whole) ||
      empty > seen.length - whole.length
    ) {
      faults.push(`answered ${JSON.stringify(answered)}, but the service saw ${JSON.stringify(seen)}`);
    }
    for (const { url, authorization } of seen) {
      const expected =
        url === path || url === `${path}/cancel`
          ? `Bearer ${token}`
          : url === hiddenPath
            ? `Bearer ${hiddenToken}`
            : undefined;
      // A token that `Connection` names is dropped, and its request is anonymous on both sides.
      if (authorization !== expected) faults.push(`${url} arrived with another identity`);
    }
    const refusals = answers.filter(({ status }) => status >= 300);
    for (const { status, headers, body } of refusals) {
      if (
        headers['content-type'] !== 'application/problem+json' ||
        (body !== '' && JSON.parse(body).status !== status)
      ) {
        faults.push(`the refusal ${status} is no problem document: ${body}`);
      }
      if (status >= 500) faults.push(`answered ${status}`);
    }
    return faults.map((fault) => `${name}: ${fault} [${answers.map(({ status }) => status)}]`);
  };
  return {
    partsOf,
    async faultsOf(variants, { silence = usualSilence, together = 75 } = {}) {
      const faults: string[] = [];
      for (let start = 0; start < variants.length; start += together) {
        const some = variants.slice(start, start + together);
        const found = await Promise.all(some.map((variant, offset) => check(start + offset, variant, silence)));
        faults.push(...found.flat());
      }
      return faults;
    },
  };
}
