// A part of a page with a title.
import { type Child, h } from './dom.ts';

export function panel(title: string, ...content: readonly Child[]): HTMLElement {
  return h('section', { class: 'panel' }, h('h2', {}, title), content);
}
