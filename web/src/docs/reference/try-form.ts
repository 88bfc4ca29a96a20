// Renders the form that sends the request of an operation. The script `try.js` sends it.
import type { Security } from '@shop/shared/contract';
import { escapeHtml } from '@shop/shared/runtime';
import { marksIn, type OwnValue, withMarks, withoutMarks } from '../own-values.ts';
import { findOwnValue } from './example-request.ts';
import type { OperationView, ParameterView } from './operation-view.ts';
import { textOfBody } from './snippets.ts';

const labels: Readonly<Record<OwnValue, string>> = {
  origin: 'Address of the shop',
  accountId: 'Account',
  customerId: 'Account',
  orderId: 'Order',
  productId: 'Product',
  sessionId: 'Session',
  importId: 'Import',
  email: 'E-mail address',
};

/** Renders the form of an operation. */
export function tryForm(operation: OperationView): string {
  const { method, path, parameters, body, security } = operation;
  const template = body?.examples[0] === undefined ? '' : textOfBody(withMarks(body.examples[0].value));
  const inPath = parameters.filter(({ place }) => place === 'path');
  const owned = new Set(inPath.map(findOwnValue));
  const inBody = marksIn(template).filter((name) => !owned.has(name));
  const more = parameters.filter(({ place }) => place !== 'path');
  return `<form id="try" class="card fields" data-method="${method}" data-path="${path}" data-type="${body?.type ?? ''}">
<h2 id="try-it">Try it</h2>
${inPath.map((parameter) => field(parameter, findOwnValue(parameter))).join('\n')}
${inBody.map((name) => input({ label: labels[name], name, own: name })).join('\n')}
${security.access === 'public' ? '' : tokenField(security)}
${more.length === 0 ? '' : `<details><summary>Parameters</summary>\n${more.map((one) => field(one)).join('\n')}\n</details>`}
${body === undefined ? '' : bodyField(template)}
<button type="submit" class="main">Send</button>
</form>
<section id="answer" aria-live="polite" hidden><h3 id="answer-status"></h3><pre tabindex="0" role="group" aria-label="The response"><code id="answer-text"></code></pre></section>`;
}

function field({ name, place, required }: ParameterView, own?: OwnValue): string {
  return input({ label: own === undefined ? name : labels[own], name: `${place}:${name}`, own, required });
}

interface Input {
  readonly label: string;
  readonly name: string;
  readonly own?: OwnValue | undefined;
  readonly required?: boolean;
}

function input({ label, name, own, required = false }: Input): string {
  const attributes = [
    `name="${escapeHtml(name)}"`,
    ...(own === undefined ? [] : [`data-value="${own}"`, `placeholder="${own === 'email' ? 'kim@example.com' : own}"`]),
    ...(required ? ['required'] : []),
  ];
  return `<label>${escapeHtml(label)} <input ${attributes.join(' ')} autocomplete="off" spellcheck="false"></label>`;
}

function tokenField({ access, scopes }: Security): string {
  const optional = scopes.length === 0 ? 'The response has more with one.' : 'Only staff needs one.';
  const hint =
    access === 'required' ? 'A log-in in this reference, at <code>POST /v1/tokens</code>, fills it in.' : optional;
  return `<label>Access token <input name="token" type="password" autocomplete="off" aria-describedby="token-hint"></label>
<p id="token-hint" class="hint quiet">${hint} It is kept until the tab is closed. <button type="button" id="forget" class="inline">Forget it</button></p>`;
}

function bodyField(template: string): string {
  const rows = Math.min(16, template.split('\n').length + 1);
  return `<label>Body <textarea name="body" rows="${rows}" spellcheck="false" data-template="${escapeHtml(template)}">${escapeHtml(withoutMarks(template))}</textarea></label>`;
}
