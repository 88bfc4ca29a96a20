// Prints the packages that only express-gateway needs and that the gateway never loads, in the format of
// engine-unloaded.txt.
import { findUnloaded, runConnectedGateway, runGateway } from './exercise-gateway.ts';

console.log(findUnloaded([await runGateway(), await runConnectedGateway()]).join('\n'));
