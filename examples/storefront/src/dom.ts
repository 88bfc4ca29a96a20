// Creates elements. Text becomes text nodes and never markup, so no text of a customer can add an element.

export type Child = Node | string | number | false | undefined | readonly Child[];

/** Attributes by name. A function is a listener: `onclick`. `false` and `undefined` leave an attribute out. */
export type Properties = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => unknown)>>;

/**
 * Creates an element.
 * @example
 * h('button', { type: 'button', onclick: add }, t.addToCart)
 */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value));
  }
  element.append(...nodesOf(children));
  return element;
}

/** Replaces the children of an element. The focus stays where it was when a new element has the same id. */
export function replaceContent(parent: HTMLElement, ...children: readonly Child[]): void {
  const { id = '' } = parent.contains(document.activeElement) ? (document.activeElement ?? {}) : {};
  parent.replaceChildren(...nodesOf(children));
  if (id !== '') document.getElementById(id)?.focus({ preventScroll: true });
}

/** Returns an icon of 24 × 24 that is drawn by lines. A button with an icon alone needs an `aria-label`. */
export function icon(path: string): SVGSVGElement {
  const create = <Tag extends keyof SVGElementTagNameMap>(tag: Tag) =>
    document.createElementNS('http://www.w3.org/2000/svg', tag);
  const svg = create('svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('aria-hidden', 'true');
  svg.setAttribute('class', 'icon');
  const line = create('path');
  line.setAttribute('d', path);
  svg.append(line);
  return svg;
}

function nodesOf(children: readonly Child[]): (Node | string)[] {
  return children.flatMap((child): (Node | string)[] => {
    if (child === false || child === undefined) return [];
    if (typeof child === 'number') return [String(child)];
    if (typeof child === 'string' || child instanceof Node) return [child];
    return nodesOf(child);
  });
}
