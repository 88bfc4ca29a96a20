// Serves modules in TypeScript to browsers without a bundler: the types are removed, and modules that are needed together
// are joined into one script. A browser loads six files at a time, so a hundred short files would take seconds.
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative } from 'node:path';

interface Module {
  /** The code, whose imports read the object `modules`. */
  readonly code: string;
  /** The files that it imports, and those that it loads later by `import()`. */
  readonly imports: readonly string[];
  readonly later: readonly string[];
}

/**
 * Returns the scripts by their paths in the folder: one for the entry and all modules that it imports, and one for each
 * module that is loaded by `import()`, with the modules that the first script lacks.
 * @param packages the main modules of packages by their names
 * @throws when a module is missing, when modules import each other, and for an import or export of another form than in
 *   this repository: named ones at the beginning of a line
 */
export function browserModules(
  folder: string,
  entry: string,
  packages: Readonly<Record<string, string>>,
): Map<string, string> {
  const keyOf = (file: string): string => relative(folder, file);
  const scriptOf = (file: string): string => keyOf(file).replace(/\.ts$/, '.js');
  const read = new Map<string, Module>();
  const moduleAt = (file: string): Module => {
    const known = read.get(file) ?? readModule(file, packages, keyOf);
    read.set(file, known);
    return known;
  };
  const scripts = new Map<string, string>();
  const addScript = (file: string, first: readonly string[]): readonly string[] => {
    const name = scriptOf(file);
    const addressOf = (other: string): string => {
      const path = relative(dirname(name), scriptOf(other));
      return path.startsWith('.') ? path : `./${path}`;
    };
    const files = withImports(file, moduleAt).filter((each) => !first.includes(each));
    const joined = files.map((each) => {
      const code = moduleAt(each).code.replace(laterImport, (_, key: string) => {
        return `import('${addressOf(join(folder, key))}').then(() => modules['${key}'])`;
      });
      return `modules['${keyOf(each)}'] ??= (() => {\n${code}})();\n`;
    });
    const isFirst = first.length === 0;
    const head = isFirst
      ? 'export const modules = {};\n'
      : `import { modules } from '${addressOf(join(folder, entry))}';\n`;
    scripts.set(name, head + joined.join(''));
    const known = isFirst ? files : first;
    for (const later of files.flatMap((each) => moduleAt(each).later))
      if (!known.includes(later) && !scripts.has(scriptOf(later))) addScript(later, known);
    return known;
  };
  addScript(join(folder, entry), []);
  return scripts;
}

/** Returns a file after all files that it imports. */
function withImports(file: string, moduleAt: (file: string) => Module): string[] {
  const found = new Set<string>();
  const add = (each: string, importers: readonly string[]): void => {
    if (importers.includes(each)) throw new Error(`modules import each other: ${[...importers, each].join(' → ')}`);
    if (found.has(each)) return;
    for (const imported of moduleAt(each).imports) add(imported, [...importers, each]);
    found.add(each);
  };
  add(file, []);
  return [...found];
}

const laterImport = /\bimport\('([^']+)'\)/g;

function readModule(file: string, packages: Readonly<Record<string, string>>, keyOf: (file: string) => string): Module {
  const fileOf = (specifier: string): string => packages[specifier] ?? join(dirname(file), specifier);
  const imports: string[] = [];
  const later: string[] = [];
  const exported: string[] = [];
  /** Returns the object with the exports of an imported module. */
  const take = (specifier: string): string => {
    imports.push(fileOf(specifier));
    return `modules['${keyOf(fileOf(specifier))}']`;
  };
  const body = withoutTypes(readFileSync(file, 'utf8'))
    .replace(/^import (\{[^}]*\}|\* as \w+) from '([^']+)';$/gm, (_, names: string, specifier: string) => {
      return `const ${names.replace('* as ', '').replaceAll(' as ', ': ')} = ${take(specifier)};`;
    })
    .replace(/^export \{([^}]*)\} from '([^']+)';$/gm, (_, names: string, specifier: string) => {
      const source = take(specifier);
      for (const name of names.split(',').map((each) => each.trim())) {
        if (name !== '') exported.push(`${name}: ${source}.${name}`);
      }
      return '';
    })
    .replace(/^export (?=(?:async )?(?:function\*?|class|const) (\w+))/gm, (_, name: string) => {
      exported.push(name);
      return '';
    })
    .replace(laterImport, (_, specifier: string) => {
      later.push(fileOf(specifier));
      return `import('${keyOf(fileOf(specifier))}')`;
    });
  const [unknown] = /^(?:import\b(?!\()|export\b).*/m.exec(body) ?? [];
  if (unknown !== undefined) throw new Error(`${file}: cannot be joined with other modules: ${unknown}`);
  return { code: `${body}return { ${exported.join(', ')} };\n`, imports: [...new Set(imports)], later };
}

/** Returns the JavaScript of a module, without comments on lines of their own and without blank lines. */
function withoutTypes(text: string): string {
  return stripTypeScriptTypes(text)
    .replace(/^[ \t]*\/\*\*[\s\S]*?\*\/[ \t]*$/gm, '')
    .replace(/^[ \t]*\/\/.*$/gm, '')
    .replace(/[ \t]+$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trimStart();
}
