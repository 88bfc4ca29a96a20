// The list of all settings for the guide about them, from `.env.example`.

interface Setting {
  readonly name: string;
  readonly value: string;
}

/**
 * Returns a section in Markdown for each heading of the file, with a table for all blocks of a comment and variables
 * below it.
 */
export function settingList(file: string): string {
  const [, ...sections] = file.split(/^# --- /m);
  return sections
    .map((section) => {
      const [title = '', ...lines] = section.split('\n');
      return `## ${capitalised(title.replace(/ -+$/, ''))}\n\n${tableOf(lines)}`;
    })
    .join('\n\n');
}

function tableOf(lines: readonly string[]): string {
  const rows: string[] = [];
  let text: string[] = [];
  let settings: Setting[] = [];
  const finish = (): void => {
    const names = settings.map(({ name, value }) => `\`${name}${value === '' ? '' : `=${value}`}\``);
    if (settings.length > 0) rows.push(`| ${names.join('<br>')} | ${text.map(escaped).join(' ')} |`);
    // A paragraph without variables is about all of the section.
    else if (text.length > 0) rows.unshift(`${text.map(escaped).join(' ')}\n`);
    [text, settings] = [[], []];
  };
  for (const line of lines) {
    const [, name, value = ''] = /^#((?:<[A-Z]+>)?[A-Z_][A-Z\d_]*)=(.*)$/.exec(line) ?? [];
    if (name !== undefined) settings.push({ name, value });
    else {
      if (settings.length > 0 || line === '') finish();
      if (line !== '') text.push(line.replace(/^# ?/, ''));
    }
  }
  finish();
  const first = rows.findIndex((row) => row.startsWith('| '));
  return [...rows.slice(0, first), '| Variable and default | Meaning |', '|---|---|', ...rows.slice(first)].join('\n');
}

/** Returns a comment of the file as Markdown: addresses become code, and `|`, `<` and `*` are escaped. */
function escaped(text: string): string {
  return text.replaceAll(/`[^`]*`|\b[a-z]+:\/\/[^\s,)]*[^\s,).:]|[|<*]/g, (part) => {
    if (part.length === 1) return `\\${part}`;
    return part.startsWith('`') ? part : `\`${part}\``;
  });
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
