// The runbooks as pages. The board links to them from each fault.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readAssets } from '../assets.ts';
import { renderGuide } from '../docs/guide.ts';
import { guideHtml } from '../docs/guide-page.ts';
import { boardLayout, runbookSection } from './board-layout.ts';

const folder = fileURLToPath(new URL('../../../../docs/runbooks', import.meta.url));

/** Address → page. The README is the list of runbooks. */
export function runbookPages(): Map<string, string> {
  const assets = readAssets();
  const layout = boardLayout(assets);
  const head = `<link rel="stylesheet" href="${assets.addressOf('guide.css')}">\n`;
  const { address: list } = runbookSection;
  return new Map(
    readdirSync(folder).map((file) => {
      const name = file.replace(/\.md$/, '');
      const guide = renderGuide(readFileSync(join(folder, file), 'utf8'), { base: list });
      const address = name === 'README' ? list : `${list}/${name}`;
      return [address, layout.page({ title: guide.title, address, section: list, content: guideHtml(guide), head })];
    }),
  );
}
