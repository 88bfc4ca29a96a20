// A dialog over the page. Escape closes it, and the focus goes back to where it was.
import { type Child, h } from './dom.ts';
import { t } from './texts/customers.ts';

export interface Dialog {
  close(): void;
}

/** Opens a dialog. It closes when the visitor leaves the page. */
export function openDialog(title: string, content: (dialog: Dialog) => Child, signal: AbortSignal): void {
  const element = h('dialog', { class: 'dialog', 'aria-labelledby': 'dialog-title' });
  const close = (): void => element.close();
  element.addEventListener('close', () => element.remove());
  element.append(
    h('div', { class: 'dialog-head' }, [
      h('h2', { id: 'dialog-title' }, title),
      h('button', { type: 'button', class: 'plain', onclick: close }, t.close),
    ]),
    h('div', {}, content({ close })),
  );
  document.body.append(element);
  signal.addEventListener('abort', close, { once: true });
  element.showModal();
}
