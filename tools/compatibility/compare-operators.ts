// Compares what operators rely on: settings, deployments, commands, metrics, migrations, and the statuses of problem codes.
import { type Node, toNode } from '@shop/shared/contract';
import { type BreakingChange, changeAt, type Place, within } from './breaking-change.ts';
import { SchemaComparison } from './compare-schemas.ts';
import { listOf } from './effective-schema.ts';

/** @param before process → schema of its environment */
export function compareSettings(before: Node, after: Node): BreakingChange[] {
  return Object.entries(before).flatMap(([process, old]) => {
    const next = toNode(after[process]);
    const { properties } = toNode(next);
    const toPlace = (name: string): Place => ({ subject: name, words: `setting ${name} of ${process}` });
    const wanted = listOf(toNode(old).required);
    const required = listOf(next.required)
      .filter((name) => !wanted.includes(name))
      .map((name) => changeAt(toPlace(String(name)), 'is required now'));
    const values = Object.entries(toNode(toNode(old).properties)).flatMap(([name, schema]) => {
      if (!(name in toNode(properties))) return [changeAt(toPlace(name), 'was removed')];
      const comparison = new SchemaComparison({ before, after });
      comparison.compare(schema, toNode(properties)[name], 'accepted', toPlace(name));
      return comparison.changes;
    });
    return [...required, ...values];
  });
}

/** @param before deployment → service or object → the properties that have to stay as they are */
export function compareDeployment(before: Node, after: Node): BreakingChange[] {
  return Object.entries(before).flatMap(([deployment, objects]) =>
    Object.entries(toNode(objects)).flatMap(([name, old]) => {
      const next = toNode(after[deployment])[name];
      const place: Place = { subject: name, words: `${name} of ${deployment}` };
      if (next === undefined) return [changeAt(place, 'was removed')];
      return compareProperties(toNode(old), toNode(next), place);
    }),
  );
}

/** @param before the words of a command → its arguments and options; and `exitCodes` */
export function compareCommands(before: Node, after: Node): BreakingChange[] {
  return Object.entries(before).flatMap(([name, old]) => {
    const place: Place = { subject: name, words: name === 'exitCodes' ? 'exit codes' : `command ${name}` };
    const next = after[name];
    if (next === undefined) return [changeAt(place, 'was removed')];
    if (name === 'exitCodes') return compareProperties(toNode(old), toNode(next), place);
    return [
      ...compareOptions(toNode(toNode(old).options), toNode(toNode(next).options), place),
      ...compareArguments(listOf(toNode(old).arguments), listOf(toNode(next).arguments), place),
    ];
  });
}

function compareProperties(old: Node, next: Node, place: Place): BreakingChange[] {
  return Object.entries(old).flatMap(([name, value]) =>
    next[name] === value
      ? []
      : [changeAt(place, `${name} was ${String(value)} and is ${String(next[name] ?? 'absent')}`)],
  );
}

function compareOptions(old: Node, next: Node, place: Place): BreakingChange[] {
  const known = Object.entries(old).flatMap(([name, option]) =>
    name in next
      ? compareWord(toNode(option), toNode(next[name]), within(place, `option ${name}`))
      : [changeAt(within(place, `option ${name}`), 'was removed')],
  );
  const added = Object.entries(next)
    .filter(([name, option]) => !(name in old) && toNode(option).required === true)
    .map(([name]) => changeAt(within(place, `option ${name}`), 'is new and required'));
  return [...known, ...added];
}

/** Arguments are compared by their positions. */
function compareArguments(old: readonly unknown[], next: readonly unknown[], place: Place): BreakingChange[] {
  const known = old.flatMap((argument, index) => {
    const at = within(place, `argument ${String(toNode(argument).name)}`);
    return index < next.length ? compareWord(toNode(argument), toNode(next[index]), at) : [changeAt(at, 'was removed')];
  });
  const added = next
    .slice(old.length)
    .filter((argument) => toNode(argument).required === true)
    .map((argument) => changeAt(within(place, `argument ${String(toNode(argument).name)}`), 'is new and required'));
  return [...known, ...added];
}

function compareWord(old: Node, next: Node, place: Place): BreakingChange[] {
  const changes: BreakingChange[] = [];
  if (next.required === true && old.required !== true) changes.push(changeAt(place, 'is required now'));
  if (old.variadic === true && next.variadic !== true) changes.push(changeAt(place, 'no longer takes several values'));
  if (old.value !== next.value)
    changes.push(changeAt(place, `its value was ${String(old.value)} and is ${String(next.value)}`));
  const values = new SchemaComparison({ before: {}, after: {} });
  values.compare(valuesOf(old), valuesOf(next), 'accepted', place);
  return [...changes, ...values.changes];
}

/** The keywords of a word that are those of JSON Schema. */
function valuesOf(word: Node): Node {
  return Object.fromEntries(['enum', 'default'].filter((name) => name in word).map((name) => [name, word[name]]));
}

/** @param before the words of a command → the schema of its output, and `components` */
export function compareOutputs(before: Node, after: Node): BreakingChange[] {
  const schemas = new SchemaComparison({ before, after });
  const [old, next] = [toNode(before.commands), toNode(after.commands)];
  const removed: BreakingChange[] = [];
  for (const [name, schema] of Object.entries(old)) {
    const place: Place = { subject: name, words: `output of ${name} --json` };
    if (name in next) schemas.compare(schema, next[name], 'produced', place);
    else removed.push(changeAt(place, 'was removed'));
  }
  return [...removed, ...schemas.changes];
}

/** @param before name → unit, kind and attributes of a metric */
export function compareMetrics(before: Node, after: Node): BreakingChange[] {
  return Object.entries(before).flatMap(([name, old]) => {
    const place: Place = { subject: name, words: `metric ${name}` };
    if (!(name in after)) return [changeAt(place, 'was removed')];
    const [metric, same] = [toNode(old), toNode(after[name])];
    const values = ['kind', 'unit']
      .filter((member) => metric[member] !== same[member])
      .map((member) => changeAt(place, `its ${member} was ${String(metric[member])} and is ${String(same[member])}`));
    const lists = ['processes', 'boundaries'].flatMap((member) =>
      listOf(metric[member])
        .filter((item) => !listOf(same[member]).includes(item))
        .map((item) => changeAt(place, `${String(item)} was removed from its ${member}`)),
    );
    const [always, sometimes] = [listOf(same.attributes), listOf(same.sometimes)];
    const attributes = [...listOf(metric.attributes), ...listOf(metric.sometimes)]
      .filter((item) => !always.includes(item) && !sometimes.includes(item))
      .map((item) => changeAt(place, `${String(item)} was removed from its attributes`));
    const absent = listOf(metric.attributes)
      .filter((item) => sometimes.includes(item))
      .map((item) => changeAt(place, `${String(item)} may be absent now`));
    return [...values, ...lists, ...attributes, ...absent];
  });
}

/** @param before problem code → status */
export function compareProblems(before: Node, after: Node): BreakingChange[] {
  return Object.entries(before).flatMap(([code, status]) => {
    const place: Place = { subject: code, words: `problem code ${code}` };
    if (!(code in after)) return [changeAt(place, 'was removed')];
    return after[code] === status
      ? []
      : [changeAt(place, `its status was ${String(status)} and is ${String(after[code])}`)];
  });
}

/** @param before service, or `shared` → migration → the digest of its file */
export function compareMigrations(before: Node, after: Node): BreakingChange[] {
  return Object.entries(before).flatMap(([service, migrations]) =>
    Object.entries(toNode(migrations)).flatMap(([name, digest]) => {
      const present = toNode(after[service])[name];
      const place: Place = { subject: name, words: `migration ${name} of ${service}` };
      if (present === undefined) return [changeAt(place, 'was removed')];
      return present === digest ? [] : [changeAt(place, 'was edited')];
    }),
  );
}
