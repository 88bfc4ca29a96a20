// How the process uses memory: thousands of connections that only wait should cost little.
import { setFlagsFromString } from 'node:v8';

// V8 lets the space for new objects grow under load, to several times 16 MB, before it looks at what is still in use.
// Nearly everything that a request makes is garbage within a millisecond: the small space does as well.
setFlagsFromString('--semi-space-growth-factor=1');
