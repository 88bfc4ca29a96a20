// `completion`: generates the completion script of a shell from the commands. The script also defines the command
// `shop`. `@bomb.sh/tab` 0.0.22 completes no names of files, and starts a process for each Tab.
import { join } from 'node:path';
import { Argument, Command, type Option } from 'commander';
import { root } from '../shop/root.ts';

export function completionCommand(program: () => Promise<Command>): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      `
Add this line to ~/.bashrc or ~/.zshrc:

  source <(npm run --silent --prefix ${root} shop -- completion bash)

Then "shop status" runs "npm run shop -- status" in any folder, and the Tab key completes commands.`,
    )
    .action(async (shell: 'bash' | 'zsh') => {
      process.stdout.write(shell === 'bash' ? bash(await program()) : zsh(await program()));
    });
}

/** One command: its words after `shop`, and the words that may follow. */
interface Node {
  readonly path: string;
  readonly commands: readonly Described[];
  readonly options: readonly Described[];
  /** The possible values of arguments and options that accept only certain values. */
  readonly values: readonly Described[];
  readonly files: boolean;
}

interface Described {
  readonly name: string;
  readonly description: string;
}

function nodesOf(command: Command, path = ''): Node[] {
  const { options, registeredArguments, commands } = command;
  const described = ({ long, description }: Option): Described => ({ name: long ?? '', description });
  const choices = [...registeredArguments, ...options].flatMap((each: Argument | Option) => each.argChoices ?? []);
  return [
    {
      path,
      commands: commands.map((each) => ({ name: each.name(), description: each.description() })),
      options: [...options.map(described), { name: '--help', description: 'display help for command' }],
      values: choices.map((name) => ({ name, description: '' })),
      files: registeredArguments.some((argument) => ['file', 'folder'].includes(argument.name())),
    },
    ...commands.flatMap((each) => nodesOf(each, `${path} ${each.name()}`.trim())),
  ];
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Finds the commands among the words that were typed so far. Options and arguments between them are skipped. */
const walk = (nodes: readonly Node[]): string => {
  const paths = nodes.filter(({ path }) => path !== '').map(({ path }) => quoted(path));
  return `    case "\${at:+$at }$word" in\n      ${paths.join('|')}) at="\${at:+$at }$word" ;;\n    esac`;
};

const runner = `shop() { ${quoted(process.execPath)} ${quoted(join(root, 'cli/src/shop.ts'))} "$@"; }`;

function bash(program: Command): string {
  const nodes = nodesOf(program);
  const cases = nodes.map(({ path, commands, options, values, files }) => {
    const names = [...commands, ...values].map(({ name }) => name).join(' ');
    const flags = options.map(({ name }) => name).join(' ');
    return `    ${quoted(path)}) words=${quoted(names)}; flags=${quoted(flags)}; files=${files ? 1 : ''} ;;`;
  });
  return `${runner}
_shop() {
  local current="\${COMP_WORDS[COMP_CWORD]}" at='' words='' flags='' files='' word
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
${walk(nodes)}
  done
  case "$at" in
${cases.join('\n')}
  esac
  if [[ $current == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    if [[ -n $files ]]; then compopt -o filenames 2>/dev/null; COMPREPLY+=($(compgen -f -- "$current")); fi
  fi
}
complete -F _shop shop
`;
}

function zsh(program: Command): string {
  const nodes = nodesOf(program);
  const entry = ({ name, description }: Described): string =>
    quoted(`${name.replaceAll(':', '\\:')}${description === '' ? '' : `:${description}`}`);
  const cases = nodes.map(({ path, commands, options, values, files }) => {
    const words = [...commands, ...values].map(entry).join(' ');
    return (
      `    ${quoted(path)}) entries=(${words}); flags=(${options.map(entry).join(' ')}); ` +
      `files=${files ? 1 : ''} ;;`
    );
  });
  return `${runner}
_shop() {
  local at='' word files=''
  local -a entries flags
  for word in "\${(@)words[2,CURRENT-1]}"; do
${walk(nodes)}
  done
  case "$at" in
${cases.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then _describe 'option' flags
  else
    (( \${#entries} )) && _describe 'command' entries
    [[ -n $files ]] && _files
  fi
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
compdef _shop shop
`;
}
