// Prints the packages that only express-gateway needs and that the gateway loads, in the format of engine-loaded.yaml.
import { stringify } from 'yaml';
import { runConnectedGateway, runGateway } from './exercise-gateway.ts';
import { neededOnlyBy } from './lock.ts';

const runs = [await runGateway(), await runConnectedGateway()];
const loaded = new Set(runs.flatMap(({ afterRequests }) => afterRequests));
const places = neededOnlyBy('node_modules/express-gateway').filter((place) => loaded.has(place));
console.log('# Written by `npx node tools/supply-chain/write-engine-loaded.ts`; README.md says what it is.');
console.log(stringify(places).trimEnd());
