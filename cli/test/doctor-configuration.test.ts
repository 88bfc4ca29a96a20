// The doctor reads what every process reads: its own variables, those of its log and those of telemetry.
import { describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/runtime';
import { checkConfiguration } from '../src/doctor/host-checks.ts';
import { readSettings } from '../src/shop/settings.ts';

const processes = ['gateway', ...serviceNames];

describe("the doctor's check of the configuration", () => {
  it.each([
    ['LOG_LEVEL', 'verbose'],
    ['OTEL_TRACES_EXPORTER', 'zipkin'],
    ['OTEL_SDK_DISABLED', 'yes'],
    ['DRAIN_MS', 'long'],
  ])('reports a wrong %s for each process', async (name, value) => {
    const findings = await checkConfiguration(readSettings({}), { [name]: value });
    expect(findings.map(({ state, detail }) => [state, detail])).toEqual(
      processes.map((process) => ['failed', expect.stringMatching(`^${process}: ${name} must be .*"${value}"$`)]),
    );
  });

  it('passes when no variable is set', async () => {
    expect(await checkConfiguration(readSettings({}), {})).toMatchObject([{ state: 'ok' }]);
  });
});
