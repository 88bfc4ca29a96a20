// The soak with one fault, which makes the shop lose a unit of stock, and an order that was checked. For the test that a
// soak reports violations.
import { pause } from '../outages/fault.ts';
import { startSystem } from '../outages/system.ts';
import { soakCommand } from './command.ts';
import { soak } from './soak.ts';

process.exit(
  await soakCommand(process.argv.slice(2), (options) =>
    soak(options, {
      start: startSystem,
      faults: [
        {
          name: 'a unit is lost',
          interrupts: 'nothing',
          async inject({ system, productIds: [id] }) {
            await system.admin.query('UPDATE catalogue.products SET stock = stock - 1 WHERE id = $1', [id]);
            await system.admin.query("INSERT INTO harness.checked VALUES (gen_random_uuid(), 'its state')");
            await pause(3_000);
            return id;
          },
        },
      ],
      patience: 120_000,
    }),
  ),
);
