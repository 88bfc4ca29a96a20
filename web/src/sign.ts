// The drawings of lines beside headings. They take the colour of the text.

const drawings = {
  storefront: 'M3 9.5 5 4h14l2 5.5a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0zM5 12.5V20h14v-7.5M10 20v-4.5h4V20',
  connection: 'M9.5 14.5l5-5M11 7l1.5-1.5a4 4 0 0 1 6 6L17 13M13 17l-1.5 1.5a4 4 0 0 1-6-6L7 11',
  parcel: 'M4 8v8.5l8 4 8-4V8l-8-4zM4 8l8 4 8-4M12 12v8.5M8 6l8 4',
  server: 'M5 4h14v6.5H5zM5 13.5h14V20H5zM8.5 7.2v.1M8.5 16.7v.1M12 7.2h4M12 16.7h4',
  envelope: 'M4 6h16v12H4zM4.5 6.5 12 13l7.5-6.5',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3M12 14.5v2',
} as const;

/** Returns HTML of a drawing that a screen reader skips. */
export function sign(name: keyof typeof drawings): string {
  return `<span class="tile"><svg class="drawn" viewBox="0 0 24 24" aria-hidden="true"><path d="${drawings[name]}"/></svg></span>`;
}
