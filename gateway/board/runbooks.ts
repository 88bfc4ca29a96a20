// The runbooks as pages beside the board, which leads to them when something is wrong.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAssets } from '../docs/assets.ts';
import { renderGuide } from '../docs/guide.ts';
import { createLayout } from '../docs/layout.ts';

const folder = fileURLToPath(new URL('../../docs/runbooks', import.meta.url));

/** Address → page; the README is their list. */
export function runbookPages(): Map<string, string> {
  const list = { address: '/board/runbooks', title: 'Runbooks', short: 'Runbooks' };
  const layout = createLayout(readAssets(), [{ address: '/board', title: 'Board', short: 'Board' }, list]);
  return new Map(
    readdirSync(folder).map((file) => {
      const name = file.replace(/\.md$/, '');
      const { title, html } = renderGuide(readFileSync(join(folder, file), 'utf8'), { base: list.address });
      const address = name === 'README' ? list.address : `${list.address}/${name}`;
      return [address, layout.page({ ...list, title }, `<main class="guide">\n${html}</main>`)];
    }),
  );
}
