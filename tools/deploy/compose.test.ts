// The common settings of the containers in docker-compose.yml.
import { describe, expect, it } from '@jest/globals';
import { serviceNames } from '@shop/shared/shop';
import { networksOf, readCompose } from './compose.ts';

const { services, networks } = readCompose();
const processes = ['gateway', ...serviceNames];

describe('docker-compose.yml', () => {
  it('docker-compose.yml confines every container, including the optional ones', () => {
    for (const [name, service] of Object.entries(services)) {
      expect([name, service]).toEqual([
        name,
        expect.objectContaining({
          read_only: true,
          cap_drop: ['ALL'],
          security_opt: ['no-new-privileges:true'],
          mem_limit: expect.any(String),
          cpus: expect.any(Number),
          pids_limit: expect.any(Number),
        }),
      ]);
      const published = (service.ports ?? []).filter((port) => !port.startsWith('127.0.0.1:'));
      expect([name, published]).toEqual([name, name === 'proxy' ? [`\${GATEWAY_PORT:-8080}:8080`] : []]);
      expect(service.image).not.toMatch(/:latest$/);
    }
  });

  it('docker-compose.yml builds the images of the shop, and pulls none of them from a registry', () => {
    const own = Object.values(services).filter(({ image }) => image?.startsWith('shop/'));
    expect(own.length).toBeGreaterThan(processes.length);
    for (const service of own) expect(service).toMatchObject({ build: expect.anything(), pull_policy: 'never' });
    const others = Object.values(services).filter((service) => !own.includes(service));
    expect(others.filter((service) => service.build !== undefined || service.pull_policy !== undefined)).toEqual([]);
  });

  it('docker-compose.yml shows the e-mails of no folder in the browser, and gives the gateway no folder', () => {
    expect(JSON.stringify(services)).not.toContain('MAIL_PAGE_DIR');
    expect(services.gateway?.volumes).toBeUndefined();
  });

  it.each(processes)(
    'docker-compose.yml gives %s time to close its connections with responses and to finish',
    (process) => {
      expect(services[process]).toMatchObject({
        environment: { DRAIN_MS: 4500 },
        // A process ends within 10 s by itself.
        stop_grace_period: '15s',
      });
    },
  );

  it('docker-compose.yml lets the operator reach only PostgreSQL and RabbitMQ, for the duration of a command', () => {
    const { profiles, networks: own, environment, init } = services.operator ?? {};
    expect(profiles).toEqual(['operator']);
    // Otherwise Ctrl-C would not end the command.
    expect(init).toBe(true);
    expect(own).toEqual(['operator-data']);
    expect(networks['operator-data']).toEqual({ internal: true });
    const beside = Object.keys(services).filter((name) => networksOf(services[name]).includes('operator-data'));
    expect(beside).toEqual(['postgres', 'rabbitmq', 'operator']);
    expect(environment).toMatchObject({
      DATABASE_URL_FILE: '/run/secrets/database-url',
      EVENTS_URL_FILE: '/run/secrets/events-url',
    });
  });
});
