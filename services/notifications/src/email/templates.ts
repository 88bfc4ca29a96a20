// The templates of e-mails: one YAML file for each language with messages in ICU MessageFormat, and one HTML layout.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseYaml } from '@shop/shared/contract';
import { StartError } from '@shop/shared/runtime';
import { IntlMessageFormat } from 'intl-messageformat';
import {
  type Block,
  blockNames,
  blocksOfKind,
  type Content,
  type EmailValues,
  textNames,
  type Wording,
} from './email-content.ts';
import { type Kind, kinds, returnKinds } from './notification.ts';

/** The e-mails in one language. */
export interface EmailTexts extends Wording {
  /** Returns the greeting and the paragraphs. A paragraph is omitted when one of its placeholders has no value. */
  contentOf(kind: Kind, name: string | undefined, values: EmailValues): Content;
}

export interface Templates {
  /** The HTML document around the content. */
  readonly layout: string;
  /** Returns the templates in the language of the locale, such as `de` for `de-AT`, or else in the shop's language. */
  textsFor(locale: string | null): EmailTexts;
}

/**
 * Reads all languages of a folder.
 * @param fallback the language of the shop
 * @throws StartError that names the file and the part of it that is wrong
 */
export function readTemplates(folder: string, fallback: string): Templates {
  const path = resolve(folder);
  const texts = new Map<string, EmailTexts>();
  const layoutFile = join(path, 'layout.html');
  const layout = readFile(layoutFile);
  for (const name of ['language', 'subject', 'content', 'shop']) {
    if (!layout.includes(`{${name}}`)) throw new StartError(`${layoutFile} must contain {${name}}`);
  }
  for (const file of readdirSync(path).filter((name) => name.endsWith('.yaml'))) {
    const language = file.slice(0, -'.yaml'.length);
    texts.set(language, readTexts(join(path, file), language));
  }
  const shops = texts.get(fallback);
  if (shops === undefined)
    throw new StartError(`${path} has no e-mails in the language of the shop (EMAIL_LANGUAGE), ${fallback}.yaml`);
  return {
    layout,
    textsFor(locale) {
      // The longest tag with a template file (RFC 4647 section 3.4): `zh-Hant-TW`, `zh-Hant`, `zh`.
      const subtags = locale?.split('-') ?? [];
      const tags = subtags.map((_, index) => subtags.slice(0, subtags.length - index).join('-'));
      return tags.map((tag) => texts.get(tag)).find((found) => found !== undefined) ?? shops;
    },
  };
}

function readFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(`cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

interface Paragraph {
  readonly message: IntlMessageFormat | undefined;
  readonly block: { readonly name: (typeof blockNames)[number]; readonly label: string } | undefined;
  readonly placeholders: readonly string[];
}

interface Template {
  readonly subject: string;
  readonly paragraphs: readonly Paragraph[];
}

/**
 * Reads and checks a template file. The checks run in one sequence, so that every error of a file is reported with its
 * location.
 */
function readTexts(file: string, language: string): EmailTexts {
  const document = new Texts(file, readLanguage(file), language);
  const greeting = document.message('greeting', ['name']);
  const greetingWithoutName = document.plain('greetingWithoutName');
  const labels = {
    total: document.plain('labels.total'),
    carrier: document.plain('labels.carrier'),
    trackingNumber: document.plain('labels.trackingNumber'),
    // Templates of release 1.1 lack these labels.
    shipping: document.plain('labels.shipping', 'Shipping'),
    including: document.plain('labels.including', 'Including'),
    reverseCharge: document.plain('labels.reverseCharge', 'Reverse charge: you owe the tax'),
  };
  const templates = new Map<Kind, Template>(
    kinds.map((kind) => {
      const isOwn = !laterKinds.some((each) => each === kind) || document.has(`emails.${kind}.subject`);
      return [kind, (isOwn ? document : readShipped(language)).template(kind)];
    }),
  );
  document.refuseOthers();
  return {
    language,
    labels,
    contentOf(kind, name, values) {
      const template = templates.get(kind);
      if (template === undefined) throw new Error(`${file} has no ${kind}`);
      const greeted = name === undefined ? greetingWithoutName : String(greeting.format({ name }));
      const blocks = template.paragraphs.flatMap((paragraph) => blocksOf(paragraph, values));
      return { subject: template.subject, blocks: [greeted, ...blocks] };
    },
  };
}

/** The kinds that templates of release 1.1 lack. */
const laterKinds: readonly Kind[] = [...returnKinds, 'webhook-failing'];

/** Returns the texts of the shop itself, because the templates of the operator lack a kind. */
function readShipped(language: string): Texts {
  const fileOf = (name: string): string => fileURLToPath(new URL(`../../templates/${name}.yaml`, import.meta.url));
  const known = existsSync(fileOf(language)) ? language : 'en';
  return new Texts(fileOf(known), readLanguage(fileOf(known)), known);
}

function blocksOf({ message, block, placeholders }: Paragraph, values: EmailValues): Block[] {
  if (placeholders.some((name) => values[name as keyof EmailValues] === undefined)) return [];
  const text = message === undefined ? [] : [String(message.format({ ...values }))];
  const value = block === undefined ? undefined : values[block.name];
  if (block === undefined || value === undefined) return text;
  return [...text, block.name === 'link' && typeof value === 'string' ? { link: value, label: block.label } : value];
}

function readLanguage(file: string): unknown {
  try {
    return parseYaml(readFile(file));
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`${file} is not valid YAML: ${(error as Error).message}`);
  }
}

/** The strings of one template file by path, such as `labels.total`. */
class Texts {
  readonly #file: string;
  readonly #language: string;
  readonly #unread: Map<string, string>;

  constructor(file: string, document: unknown, language: string) {
    this.#file = file;
    this.#language = language;
    this.#unread = new Map(leaves(document, []));
  }

  has(path: string): boolean {
    return this.#unread.has(path);
  }

  text(path: string): string {
    const text = this.#unread.get(path);
    if (text === undefined || text.trim() === '') throw new StartError(`${this.#file} lacks the text ${path}`);
    this.#unread.delete(path);
    return text.trim();
  }

  /** Returns a string without placeholders, or the other one when the file lacks it. */
  plain(path: string, otherwise?: string): string {
    return otherwise !== undefined && !this.has(path) ? otherwise : String(this.message(path, []).format());
  }

  message(path: string, permitted: readonly string[]): IntlMessageFormat {
    return this.#message(path, this.text(path), permitted);
  }

  template(kind: Kind): Template {
    const subject = this.plain(`emails.${kind}.subject`);
    const path = `emails.${kind}.body`;
    const paragraphs = this.text(path).split(/\n\s*\n/);
    return { subject, paragraphs: paragraphs.map((text) => this.#paragraph(path, kind, text)) };
  }

  refuseOthers(): void {
    const [path] = this.#unread.keys();
    if (path !== undefined) throw new StartError(`${this.#file} has ${path}, which no e-mail uses`);
  }

  #paragraph(path: string, kind: Kind, paragraph: string): Paragraph {
    const lines = paragraph.split('\n');
    const [, found, label = ''] = /^\{(\w+)\}(?: (.+))?$/.exec(lines.at(-1)?.trim() ?? '') ?? [];
    const name = blockNames.find((each) => each === found);
    const text = (name === undefined ? lines : lines.slice(0, -1)).map((line) => line.trim()).join(' ');
    const message = text === '' ? undefined : this.#message(path, text, textNames[kind]);
    if (name !== undefined && !blocksOfKind[kind].includes(name))
      throw new StartError(`${this.#toLocation(path)} has the paragraph {${name}}; ${mayUse(blocksOfKind[kind])}`);
    const inText = message === undefined ? [] : argumentsOf(message.getAst());
    return {
      message,
      block: name === undefined ? undefined : { name, label: this.#label(path, name, label) },
      placeholders: name === undefined ? inText : [...inText, name],
    };
  }

  /** Returns the label of a link. Other blocks have no label. */
  #label(path: string, block: string, label: string): string {
    if (block === 'link' || label === '') return String(this.#message(path, label, []).format());
    throw new StartError(`${this.#toLocation(path)} has "${label}" behind {${block}}; only {link} has a label`);
  }

  #toLocation(path: string): string {
    return `${path} of ${this.#file}`;
  }

  #message(path: string, text: string, permitted: readonly string[]): IntlMessageFormat {
    const place = this.#toLocation(path);
    let message: IntlMessageFormat;
    try {
      message = new IntlMessageFormat(text, this.#language, undefined, { ignoreTag: true });
    } catch (error) {
      throw new StartError(`${place} is no ICU message: ${(error as Error).message} in "${text}"`);
    }
    const unknown = argumentsOf(message.getAst()).find((name) => !permitted.includes(name));
    if (unknown === undefined) return message;
    throw new StartError(`${place} uses {${unknown}}; ${mayUse(permitted)}`);
  }
}

function mayUse(names: readonly string[]): string {
  return names.length === 0 ? 'it may use none' : `it may use ${names.map((name) => `{${name}}`).join(', ')}`;
}

type Leaf = readonly [path: string, text: string];

function leaves(value: unknown, path: readonly string[]): Leaf[] {
  if (typeof value !== 'object' || value === null) return [[path.join('.'), String(value ?? '')]];
  return Object.entries(value).flatMap(([name, each]) => leaves(each, [...path, name]));
}

type Ast = ReturnType<IntlMessageFormat['getAst']>;

/** Returns the names of the placeholders, including those within choices. */
function argumentsOf(elements: Ast): string[] {
  return elements.flatMap((element) => {
    if (!('value' in element) || element.type === 0) return [];
    const inside =
      'options' in element ? Object.values(element.options).flatMap(({ value }) => argumentsOf(value)) : [];
    return [String(element.value), ...inside];
  });
}
