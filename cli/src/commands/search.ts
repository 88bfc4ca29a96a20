// `search`: applies a changed language of the search.
import { Command } from 'commander';
import { counted, type Output, print, withJson } from '../output/print.ts';
import { withOperator } from '../shop/operators.ts';

export function searchCommand(): Command {
  const command = new Command('search');
  withJson(
    command.command('rebuild').description('compute the words of all products for the language in SEARCH_LANGUAGE'),
  )
    .addHelpText(
      'after',
      '\nThe shop can run meanwhile. A change of a name, brand, category or description waits. ' +
        'Restart the catalogue after it.',
    )
    .action(async (output: Output) => {
      const rebuilt = await withOperator('catalogue', ({ rebuildSearch }, environment) => rebuildSearch(environment));
      print(
        output,
        rebuilt,
        () =>
          `The search is in ${rebuilt.language}: ${counted(rebuilt.changed, 'product has', 'products have')} other words. Restart the catalogue.`,
      );
    });
  return command;
}
