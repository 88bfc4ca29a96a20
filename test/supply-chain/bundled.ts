// The libraries in the bundle of Swagger UI, which the gateway serves to browsers and no lock file lists.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const bundle = createRequire(import.meta.url).resolve('swagger-ui-dist/swagger-ui-bundle.js');

/** Where the bundle states a library's version. The other libraries in it state none. */
const marks: Readonly<Record<string, RegExp>> = {
  dompurify: /DOMPurify\.version="([^"]+)"/,
  'highlight.js': /versionString="([^"]+)"/,
  immutable: /o\.toMap\(\):o\.toSet\(\)\}var \w+="([^"]+)"/,
  react: /useTransition\(\)\},\w+\.version="([^"]+)"/,
};

/** @throws when the bundle does not state a version at the expected place */
export function bundledPackages(): readonly { name: string; version: string }[] {
  const text = readFileSync(bundle, 'utf8');
  return Object.entries(marks).map(([name, mark]) => {
    const version = mark.exec(text)?.[1];
    if (version === undefined)
      throw new Error(`${bundle} states no version of ${name}: look for it and change the mark`);
    return { name, version };
  });
}
