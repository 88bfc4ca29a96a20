// JSON values as literals of JavaScript and Python.

interface Style {
  readonly step: string;
  readonly words: Readonly<Record<'true' | 'false' | 'null', string>>;
  text(value: string): string;
  key(name: string): string;
}

const doubleQuoted = (value: string): string => JSON.stringify(value);
const singleQuoted = (value: string): string => (/['"\\\n]/.test(value) ? JSON.stringify(value) : `'${value}'`);

const javascript: Style = {
  step: '  ',
  words: { true: 'true', false: 'false', null: 'null' },
  text: singleQuoted,
  key: (name) => (/^[a-z_]\w*$/i.test(name) ? name : singleQuoted(name)),
};

const python: Style = {
  step: '    ',
  words: { true: 'True', false: 'False', null: 'None' },
  text: doubleQuoted,
  key: doubleQuoted,
};

/** @param indent of the line on which the literal begins */
export function javascriptLiteral(value: unknown, indent = ''): string {
  return literal(value, javascript, indent);
}

/** @param indent of the line on which the literal begins */
export function pythonLiteral(value: unknown, indent = ''): string {
  return literal(value, python, indent);
}

/** Serializes a literal. A short one is written on one line, a longer one has a line for each member. */
function literal(value: unknown, style: Style, indent: string): string {
  if (typeof value === 'string') return style.text(value);
  if (typeof value !== 'object' || value === null) return style.words[String(value) as 'null'] ?? String(value);
  const inner = indent + style.step;
  const isList = Array.isArray(value);
  const parts = isList
    ? value.map((one) => literal(one, style, inner))
    : Object.entries(value).map(([name, member]) => `${style.key(name)}: ${literal(member, style, inner)}`);
  if (parts.length === 0) return isList ? '[]' : '{}';
  const line = parts.join(', ');
  if (line.length <= 60 && !line.includes('\n')) return isList ? `[${line}]` : `{ ${line} }`;
  const lines = parts.map((part) => `${inner}${part},\n`).join('');
  return isList ? `[\n${lines}${indent}]` : `{\n${lines}${indent}}`;
}
