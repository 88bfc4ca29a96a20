// The export of spans and metrics of a process, as the environment configures it.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLog } from '@shop/shared/runtime';
import { observe, readTelemetry, startRequestSpan, startTelemetry } from '@shop/shared/telemetry';
import { eventually, type OtlpReceiver, startOtlpReceiver } from '@shop/shared/testing';

let receiver: OtlpReceiver;
let folder: string;

beforeAll(async () => {
  receiver = await startOtlpReceiver();
  folder = mkdtempSync(join(tmpdir(), 'endpoint-'));
});

afterAll(async () => {
  await receiver.close();
  rmSync(folder, { recursive: true });
});

describe('spans and metrics', () => {
  it('spans and metrics go to the collector that a file names', async () => {
    const file = join(folder, 'endpoint');
    writeFileSync(file, `${receiver.url}\n`);
    const stops: (() => Promise<void> | void)[] = [];
    const life = {
      log: createLog('sample', 'silent'),
      onStop: (_label: string, stop: () => Promise<void> | void) => void stops.push(stop),
      fail: () => {},
    };
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT_FILE: file, OTEL_TRACES_SAMPLER_ARG: '1' };
    await startTelemetry('sample', life, readTelemetry(environment), { edge: true });
    observe('sample.figure', { unit: '1', description: 'One.' }, (tell) => tell(1));
    startRequestSpan(undefined)?.end();
    // The remaining data is sent when the process stops.
    await Promise.all(stops.map((stop) => stop()));
    await eventually(async () => {
      expect(receiver.spans).toMatchObject([{ service: 'sample', name: 'request' }]);
      expect([...(receiver.metrics.get('sample')?.keys() ?? [])]).toContain('sample.figure');
    });
  });
});

describe('the settings of telemetry', () => {
  it.each([
    ['OTEL_TRACES_EXPORTER', 'zipkin', 'must be one of otlp, none'],
    ['OTEL_METRICS_EXPORTER', 'prometheus', 'must be one of otlp, none'],
    ['OTEL_SDK_DISABLED', 'yes', 'must be one of true, false'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'must be a URL'],
  ])('the settings of telemetry reject %s=%s', (name, value, reason) => {
    expect(() => readTelemetry({ [name]: value })).toThrow(`${name} ${reason}`);
  });
});
