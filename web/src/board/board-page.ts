// The page of the board: a log-in form, and an empty picture and tables that the script fills.
import { operatorCommand } from '@shop/shared/shop';
import type { Assets } from '../assets.ts';
import { boardLayout, boardSection } from './board-layout.ts';

export function boardPage(assets: Assets): string {
  const content = `<main id="content" class="page board">
<header class="heading"><h1>The shop now</h1> <p id="as-of" class="quiet"></p></header>
<p id="notice" class="lead" role="status">Log in with an account that has the scope <code>orders:read-all</code>.</p>
<form id="log-in" class="card fields">
<label>E-mail <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button class="main">Log in</button>
</form>
<section id="figures" data-grant="${operatorCommand('shop', 'staff grant EMAIL orders:read-all')}" hidden>
<ul id="faults" class="plain"></ul>
<figure>
<div id="picture"></div>
<figcaption>Solid lines are requests, broken ones events; what moves on them moved in the last minute.
Each part leads to its figures below.</figcaption>
</figure>
<div id="shop" hidden>
${table('Processes', 'processes', [
  'Process',
  'Ready',
  'Requests',
  'Failed',
  'Half within',
  '99 % within',
  'Events wait since',
])}
${table('Queues', 'queues', ['Consumer', 'Taken', 'Waiting', 'Delayed', 'Dead letters'])}
${table('Webhooks', 'webhooks', [
  'Active',
  'Unverified',
  'In trouble',
  'Paused',
  'Suspended',
  'Ended',
  'Failing since',
  'Parked subjects',
])}
<div class="beside">
${table('Orders', 'orders', ['Status', 'Orders'])}
${table('Stock', 'stock', ['Moved', 'Units'])}
</div>
<p id="within" class="quiet"></p>
</div>
${table('Requests through this gateway in the last minute', 'operations', [
  'Operation',
  'Requests',
  'Refused',
  'Failed',
  'Half within',
  '99 % within',
])}
<h2>One order</h2>
<form id="find" class="fields">
<label>Order <input name="order" autocomplete="off" size="36" required></label>
<button>Show what happened</button>
</form>
<p id="found" role="status"></p>
<ol id="steps" class="plain" hidden></ol>
</section>
</main>`;
  const files = { styles: ['board.css'], scripts: ['board.js'] } as const;
  return boardLayout(assets).page({ title: 'Board', address: boardSection.address, content, ...files });
}

/** Renders a heading and a table; the script fills the rows. */
function table(title: string, id: string, columns: readonly string[]): string {
  const head = columns.map((column) => `<th scope="col">${column}</th>`).join('');
  return `<section>
<h2>${title}</h2>
<div class="wide" tabindex="0" role="region" aria-label="${title}"><table>
<thead><tr>${head}</tr></thead>
<tbody id="${id}"></tbody>
</table></div>
</section>`;
}
