// Pauses that can be ended early.
import { expect, it } from '@jest/globals';
import { startPause } from '@shop/shared/runtime';

it('a pause can be ended long before its time', async () => {
  const pause = startPause(3_600_000);
  pause.end();
  pause.end();
  await expect(pause.over).resolves.toBeUndefined();
});

it('a pause ends by itself', async () => {
  await expect(startPause(1).over).resolves.toBeUndefined();
});
