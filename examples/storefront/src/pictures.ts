// The pictures of products and categories.
import { type Child, h } from './dom.ts';

interface Pictured {
  readonly name: string;
  readonly category: string;
  readonly images?: readonly { readonly url: string; readonly alt: string }[];
  readonly attributes?: Readonly<Record<string, string | number>>;
}

/** The drawings in the folder `pictures`: of categories, and of products by their attribute `kind`. */
export const drawings =
  'apron backpack basket beans bird-house blanket board book bowl bulb candle clock coffee cup cushion desk-lamp dripper filter flask floor-lamp garden gloves grinder kettle kitchen knife lamp lantern light moka mug notebook office pan pen pencils pendant planter press rug scale scissors seeds shears socks stool sweater teapot tee textiles tote towel tray trowel twine voucher watering-can'.split(
    ' ',
  );

const folder = new URL('../pictures/', import.meta.url);

/**
 * Returns the pictures of a product: its images, or a drawing of its kind or of its category, or its first letter.
 * @param isFirst whether it is seen first, and loaded before others
 */
export function picturesOf({ name, category, images = [], attributes = {} }: Pictured, isFirst = false): HTMLElement[] {
  if (images.length > 0) return images.map(({ url, alt }) => image(url, alt, name, isFirst));
  return [drawing([String(attributes.kind), category], name, isFirst)];
}

/** Returns the picture of a product beside its name. */
export function pictureOf(product: Pictured, isFirst = false): HTMLElement {
  const [picture] = picturesOf({ ...product, ...(product.images && { images: product.images.slice(0, 1) }) }, isFirst);
  if (picture instanceof HTMLImageElement) picture.alt = '';
  return picture ?? tile(product.name);
}

export function categoryPicture(category: string, isFirst = false): HTMLElement {
  return drawing([category], category, isFirst);
}

function drawing(names: readonly string[], text: string, isFirst: boolean): HTMLElement {
  const name = names.find((each) => drawings.includes(each));
  return name === undefined ? tile(text) : image(new URL(`${name}.svg`, folder).href, '', text, isFirst);
}

/** @param text whose first letter is shown when the picture cannot be loaded */
function image(src: string, alt: string, text: string, isFirst: boolean): HTMLElement {
  const shown: HTMLImageElement = h('img', {
    class: 'picture',
    alt,
    width: 400,
    height: 400,
    referrerpolicy: 'no-referrer',
    loading: isFirst ? 'eager' : 'lazy',
    fetchpriority: isFirst ? 'high' : 'auto',
    onerror: () => shown.replaceWith(tile(text)),
  });
  // The address is last, because the browser begins to load when it is set.
  shown.src = src;
  return shown;
}

function tile(text: string): HTMLElement {
  const letter: Child = [...text.trim()][0]?.toUpperCase() ?? '';
  return h('span', { class: 'picture tile', 'aria-hidden': 'true' }, letter);
}
