// The versions of a product, such as sizes and colours: one row of links for each option.
import type { Product } from '@shop/client';
import { type Child, h } from './dom.ts';
import { attributeName, attributeValue } from './names.ts';
import { t } from './texts.ts';

export function versionChoice({ id, variant, variants = [] }: Product): Child {
  if (variant === undefined || variants.length < 2) return undefined;
  return Object.keys(variant.options).map((option) => {
    const values = [...new Set(variants.map(({ options }) => options[option] ?? ''))];
    return h('fieldset', { class: 'option' }, [
      h('legend', {}, attributeName(option), ': ', h('strong', {}, attributeValue(variant.options[option] ?? ''))),
      h(
        'div',
        { class: 'values' },
        values.map((value) => valueLink(option, value)),
      ),
    ]);
  });

  /** The link to the version with this value, and the other options as they are. Another one follows where none exists. */
  function valueLink(option: string, value: string): HTMLElement {
    const wanted = { ...variant?.options, [option]: value };
    const withValue = variants.filter(({ options }) => options[option] === value);
    const exact = withValue.find(({ options }) =>
      Object.entries(wanted).every(([name, each]) => options[name] === each),
    );
    const target = exact ?? withValue.find(({ inStock }) => inStock) ?? withValue[0];
    const isMissing = exact === undefined || !exact.inStock;
    return h(
      'a',
      {
        class: isMissing ? 'value missing' : 'value',
        id: `option-${option}-${value}`,
        href: `/p/${target?.id ?? id}`,
        'data-replace': true,
        'aria-current': target?.id === id ? 'true' : undefined,
      },
      attributeValue(value),
      isMissing && h('span', { class: 'unseen' }, exact === undefined ? t.notTogether : t.soldOut),
    );
  }
}
