// The start page.
import { h } from '../dom.ts';
import type { View } from '../router.ts';
import { t } from '../texts.ts';

export async function homePage(): Promise<View> {
  return { title: '', content: h('div', { class: 'page' }, h('h1', {}, t.shopName)) };
}
