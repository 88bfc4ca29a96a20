// The board's page: a form to log in, and empty tables that its script fills.
import { readAssets } from '../docs/assets.ts';
import { createLayout } from '../docs/layout.ts';

export const boardPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function boardPage(): string {
  const assets = readAssets();
  const current = { address: '/board', title: 'Board', short: 'Board' };
  const layout = createLayout(assets, [current, { address: '/docs', title: 'Documentation', short: 'Documentation' }]);
  const content = `<main class="guide board">
<h1>The shop now</h1>
<p id="notice" role="status">Log in with an account that has the scope <code>orders:read-all</code>.</p>
<form id="log-in">
<label>E-mail <input name="email" type="email" autocomplete="username" required></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<button>Log in</button>
</form>
<section id="figures" hidden>
<h2>Services</h2>
<ul id="services"></ul>
<div id="shop" hidden>
<div class="wide"><table>
<thead><tr><th>Process</th><th>Replicas</th><th>Requests</th><th>Failed</th><th>Half within</th><th>99 % within</th><th>Events wait since</th></tr></thead>
<tbody id="processes"></tbody>
</table></div>
<h2>Queues</h2>
<div class="wide"><table>
<thead><tr><th>Consumer</th><th>Waiting</th><th>Delayed</th><th>Dead letters</th></tr></thead>
<tbody id="queues"></tbody>
</table></div>
<h2>Orders and stock</h2>
<div class="wide"><table>
<thead><tr><th>The newest orders</th><th></th></tr></thead>
<tbody id="orders"></tbody>
</table><table>
<thead><tr><th>Stock moved</th><th>Units</th></tr></thead>
<tbody id="stock"></tbody>
</table></div>
<p id="within"></p>
</div>
<h2>Requests in the last minute</h2>
<div class="wide"><table>
<thead><tr><th>Operation</th><th>Requests</th><th>Refused</th><th>Failed</th><th>Half within</th><th>99 % within</th></tr></thead>
<tbody id="operations"></tbody>
</table></div>
<h2>One order</h2>
<form id="find">
<label>Order <input name="order" autocomplete="off" required></label>
<button>Show what happened</button>
</form>
<p id="found" role="status"></p>
<div class="wide" id="trace" hidden><table>
<thead><tr><th>Time</th><th>Service</th><th>What</th><th>Trace</th><th>Request</th></tr></thead>
<tbody id="steps"></tbody>
</table></div>
</section>
</main>`;
  return layout.page(current, content, { end: `<script src="${assets.addressOf('board.js')}"></script>\n` });
}
