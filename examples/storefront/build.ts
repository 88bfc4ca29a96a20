// Writes the storefront as static files for another host: `node examples/storefront/build.ts FOLDER https://shop.example`.
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readStorefront } from '../../web/src/storefront.ts';

const [folder, shop = ''] = process.argv.slice(2);
if (folder === undefined || !URL.canParse(shop)) throw new Error('give a folder and the address of the shop');
const { page, files } = readStorefront((digest) => `/assets/${digest}`);
const index = page.replace('</head>', `<meta name="shop" content="${new URL(shop).origin}">\n</head>`);
for (const [address, content] of [['/index.html', index] as const, ...files]) {
  const file = join(folder, address);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, content);
}
