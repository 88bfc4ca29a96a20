// `new-service NAME`: writes a new service into the checkout.
import { Command } from 'commander';
import { createService } from '../new-service/create-service.ts';
import { type Output, print, withJson } from '../output/print.ts';
import { root } from '../shop/root.ts';

export function newServiceCommand(): Command {
  return withJson(new Command('new-service'))
    .argument('<name>', '3 to 20 lower-case letters')
    .action(async (name: string, output: Output) => {
      const files = await createService(root, name);
      print(output, { name, files }, () =>
        [
          `The service ${name} is written:`,
          ...files.map((file) => `  ${file}`),
          '',
          'Next: npm ci, npm test -- services/' + name + ' test/system/access, and npm start.',
        ].join('\n'),
      );
    });
}
