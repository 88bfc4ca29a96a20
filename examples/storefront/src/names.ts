// Names of categories, attributes and countries in the language of the visitor.
import { t } from './texts.ts';

/** Returns the translated name of a category, or its own with a capital letter. */
export function categoryName(category: string): string {
  return translated(t.categories, category) ?? capitalized(category);
}

/** Returns the translated name of an attribute, or its own in words: `guaranteeYears` → `Guarantee years`. */
export function attributeName(name: string): string {
  return (
    translated(t.attributes, name) ?? capitalized(name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
  );
}

/** Returns the translated value of an attribute, or its own. */
export function attributeValue(value: string | number): string {
  return translated(t.values, value) ?? String(value);
}

/** A name of the shop may be one that every object has, such as `constructor`. */
function translated(names: Readonly<Record<string, string>>, name: string | number): string | undefined {
  return Object.hasOwn(names, name) ? names[name] : undefined;
}

function capitalized(text: string): string {
  return text.charAt(0).toLocaleUpperCase(t.language) + text.slice(1);
}
