// The commands in messages to operators, in the form of the installation.
import { describe, expect, it } from '@jest/globals';
import { type CommandPurpose, operatorCommand } from '@shop/shared/shop';

const written = (installation: string): Record<CommandPurpose, string> => {
  const write = (purpose: CommandPurpose, words?: string): string =>
    operatorCommand(purpose, words, { SHOP_INSTALLATION: installation });
  return {
    start: write('start'),
    shop: write('shop', 'keys rotate'),
    logs: write('logs', 'orders'),
    examine: write('examine'),
  };
};

describe('operatorCommand', () => {
  it('operatorCommand writes commands of npm when nothing else is set', () => {
    const expected = {
      start: 'npm start',
      shop: 'npm run shop -- keys rotate',
      logs: 'npm run shop -- logs orders',
      examine: 'npm run shop -- doctor',
    };
    expect([written(''), written('npm')]).toEqual([expected, expected]);
  });

  it('operatorCommand writes commands of Docker Compose', () => {
    expect(written('compose')).toEqual({
      start: 'docker compose up --detach',
      shop: 'docker compose run --rm operator keys rotate',
      logs: 'docker compose logs orders',
      examine: 'docker compose ps --all',
    });
  });

  it('operatorCommand writes commands of Kubernetes', () => {
    expect(written('kubernetes')).toEqual({
      start: 'kubectl apply --kustomize deploy/kubernetes/overlays/production',
      shop: 'kubectl --namespace shop exec operator-0 -- node src/shop.ts keys rotate',
      logs: 'kubectl --namespace shop logs --prefix --selector app.kubernetes.io/name=orders',
      examine: 'kubectl --namespace shop get pods',
    });
  });

  it('operatorCommand rejects another installation', () => {
    expect(() => written('nomad')).toThrow('SHOP_INSTALLATION must be one of npm, compose, kubernetes, not "nomad"');
  });
});
