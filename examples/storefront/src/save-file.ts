// Saves content as a file of the visitor.
import { h } from './dom.ts';

export function save(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  h('a', { href: address, download: name }).click();
  // The browser reads the content after the click.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
