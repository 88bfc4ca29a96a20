// The gate reports each change that breaks someone, names its place, and reports no other change.
import { describe, expect, it } from '@jest/globals';
import { unannounced, withRelease } from './changelog.ts';
import { breakingChanges } from './contracts.ts';
import { add, type Edit, edited, type Path, present, remove, rename, reverseMembers, set } from './edits.ts';

const at = (method: string, path: string, ...further: (string | number)[]): Path => [
  'openapi',
  'paths',
  path,
  method,
  ...further,
];
const schema = (name: string, ...further: (string | number)[]): Path => [
  'openapi',
  'components',
  'schemas',
  name,
  ...further,
];
const limit: Path = ['openapi', 'components', 'parameters', 'Limit', 'schema'];
const key: Path = ['openapi', 'components', 'parameters', 'IdempotencyKey'];
const createOrder = (...further: string[]): Path => at('post', '/v1/orders', ...further);
const listOrders = (...further: (string | number)[]): Path => at('get', '/v1/orders', ...further);
const shipOrder = (...further: string[]): Path => at('post', '/v1/orders/{orderId}/ship', ...further);
const event = (service: string, ...further: (string | number)[]): Path => ['asyncapi', service, ...further];
const created = (service: string): Path => event(service, 'components', 'schemas', 'order.created.v1', 'allOf', 1);
const resolve: Path = ['internal', 'orders', 'paths', '/internal/reservations/settle', 'post'];
const setting = (process: string, ...further: string[]): Path => ['settings', process, ...further];
const compose = (service: string, ...further: string[]): Path => [
  'deployment',
  'docker compose',
  `service ${service}`,
  ...further,
];
const production = (object: string, ...further: string[]): Path => [
  'deployment',
  'overlay production',
  object,
  ...further,
];
const command = (name: string, ...further: (string | number)[]): Path => ['commands', name, ...further];
const output = (...further: string[]): Path => ['outputs', 'components', 'schemas', 'Order', ...further];
const problem = 'application/problem+json';

type Case = readonly [title: string, edits: readonly Edit[], expected: readonly RegExp[]];

const operations: readonly Case[] = [
  ['a removed operation', [remove(at('get', '/v1/brands'))], [/^operation GET \/v1\/brands, listBrands: was removed$/]],
  [
    'another operationId',
    [set(createOrder('operationId'), 'placeOrder')],
    [/createOrder: its operationId is placeOrder/],
  ],
  [
    'a removed parameter',
    [remove(listOrders('parameters', 0))],
    [/^query parameter accountId of .*listOrders: was removed/],
  ],
  [
    'a new required parameter',
    [add(listOrders('parameters'), { name: 'zone', in: 'query', required: true })],
    [/^query parameter zone of .*listOrders: is new and required/],
  ],
  [
    'a parameter that is required now',
    [set([...key, 'required'], true)],
    [/^parameter IdempotencyKey: is required now/],
  ],
  [
    'another size of a number',
    [set(schema('Money', 'format'), 'float')],
    [/^schema Money: format was "double" and is "float"/],
  ],
  ['a tightened maximum', [set([...limit, 'maximum'], 50)], [/^parameter Limit: the maximum was 100 and is 50/]],
  ['a changed default', [set([...limit, 'default'], 10)], [/^parameter Limit: the default was 20 and is 10/]],
  [
    'a default of a parameter that had none',
    [set(['openapi', 'components', 'parameters', 'OrdersSort', 'schema', 'default'], 'id:asc')],
    [/^parameter OrdersSort: the default was absent and is "id:asc"/],
  ],
  [
    'a changed pattern',
    [set([...key, 'schema', 'pattern'], '^[a-z]+$')],
    [/^parameter IdempotencyKey: pattern was .* and is "\^\[a-z\]\+\$"/],
  ],
  [
    'a new required member of a request',
    [add(schema('NewOrder', 'required'), 'expectedTotal')],
    [/^schema NewOrder: the member expectedTotal is required now/],
  ],
  [
    'a removed member of a request',
    [remove(schema('NewOrder', 'properties', 'expectedTotal'))],
    [/^schema NewOrder: the member expectedTotal was removed/],
  ],
  [
    'a removed value of a request',
    [remove(schema('ProductSearch', 'properties', 'facets', 'items', 'enum', 0))],
    [/^items of member facets of schema ProductSearch: no longer accepts "brand"/],
  ],
  [
    'a narrower type of a request',
    [set(schema('NewOrder', 'properties', 'expectedTotal'), { type: 'integer' })],
    [/^member expectedTotal of schema NewOrder: no longer accepts number/],
  ],
  [
    'further alternatives that a value of a request must meet, too',
    [set(schema('ProductPatch', 'properties', 'images', 'anyOf'), [{ type: 'null' }])],
    [/^alternative 1 of member images of schema ProductPatch: no longer accepts boolean/],
  ],
  [
    'a smaller body',
    [set(createOrder('requestBody', 'x-max-bytes'), 1024)],
    [/^body of .*createOrder: at most 1024 bytes are accepted, and were 65536/],
  ],
  [
    'a body that is required now',
    [set(shipOrder('requestBody', 'required'), true)],
    [/^body of .*shipOrder: is required now/],
  ],
  [
    'another media type of a request',
    [rename(createOrder('requestBody', 'content', 'application/json'), 'text/json')],
    [/^application\/json of body of .*createOrder: was removed/],
  ],
  [
    'a changed status',
    [rename(createOrder('responses', '201'), '202')],
    [/^response 201 of .*createOrder: was removed/, /^response 202 of .*createOrder: is a new success/],
  ],
  ['a removed error', [remove(createOrder('responses', '409'))], [/^response 409 of .*createOrder: was removed/]],
  [
    'a removed header',
    [remove(createOrder('responses', '201', 'headers', 'Location'))],
    [/^header Location of response 201 of .*createOrder: was removed/],
  ],
  [
    'a header that may be absent',
    [set(createOrder('responses', '201', 'headers', 'Location', 'required'), false)],
    [/^header Location of .*createOrder: may be absent now/],
  ],
  [
    'a removed member of a response',
    [remove(schema('Order', 'properties', 'totalCost'))],
    [/^schema Order: the member totalCost was removed \(in .*response/],
  ],
  [
    'a member of a response that may be absent',
    [set(schema('Order', 'required'), ['id'])],
    [/^schema Order: the member status may be absent now/],
  ],
  [
    'another type of a member of a response',
    [set(schema('Order', 'properties', 'currency'), { type: 'integer' })],
    [/^member currency of schema Order: may now be integer/],
  ],
  [
    'a new value in an enumeration of a response',
    [add(schema('OrdersStatus', 'enum'), 'lost')],
    [/^schema OrdersStatus: may now be "lost"/],
  ],
  [
    'a wider bound of a response',
    [set(schema('Pagination', 'properties', 'limit', 'maximum'), 500)],
    [/^member limit of schema Pagination: the maximum was 100 and is 500/],
  ],
  [
    'narrower names of members of a request',
    [set(schema('AttributeName', 'maxLength'), 20)],
    [/^schema AttributeName: the maximum length was 40 and is 20/],
  ],
  [
    'names of members that a further schema restricts, too',
    [set(schema('Attributes', 'allOf'), [{ propertyNames: { maxLength: 20 } }])],
    [/^names of members of schema Attributes: the maximum length was 40 and is 20/],
  ],
  [
    'names of members that were not restricted',
    [set(schema('NewOrder', 'propertyNames'), { type: 'string', maxLength: 5 })],
    [/^names of members of schema NewOrder: the maximum length was absent and is 5/],
  ],
  ['another address of the API', [set(['openapi', 'servers', 0, 'url'], '/shop')], [/^server \/: was removed/]],
  ['a changed condition', [set(schema('Pagination', 'else'), {})], [/^schema Pagination: if was /]],
  [
    'a removed problem code of a response',
    [remove(['openapi', 'components', 'responses', 'OrderConflict', 'content', problem, 'examples', 'hold-limit'])],
    [/^application\/problem\+json of response OrderConflict: the problem code hold-limit was removed/],
  ],
  [
    'another status of a problem code',
    [set(['problems', 'hold-limit'], 429)],
    [/^problem code hold-limit: its status was 409 and is 429/],
  ],
  [
    'another scope',
    [set(shipOrder('security'), [{ bearer: ['orders:ship'] }])],
    [/shipOrder: a request with {"bearer":\["orders:fulfil"\]} is no longer permitted/],
  ],
  [
    'credentials for a public operation',
    [set(at('get', '/v1/brands', 'security'), [{ bearer: [] }])],
    [/listBrands: a request with {} is no longer permitted/],
  ],
  [
    'a scope of machines that does not suffice any more',
    [set(listOrders('x-machine-scopes'), [])],
    [/listOrders: machines with the scope orders:read-all are no longer permitted/],
  ],
  [
    'another security scheme',
    [set(['openapi', 'components', 'securitySchemes', 'bearer', 'scheme'], 'basic')],
    [/^security scheme bearer: was changed/],
  ],
  [
    'a removed internal operation',
    [remove(resolve)],
    [/^internal operation of orders POST \/internal\/reservations\/settle, resolveReservation: was removed/],
  ],
  [
    'a new required member of an internal call',
    [add([...resolve, 'requestBody', 'content', 'application/json', 'schema', 'required'], 'at')],
    [/^application\/json of body of internal operation of orders .*: the member at is required now/],
  ],
];

const events: readonly Case[] = [
  [
    'an event that is no longer sent',
    [remove(event('orders', 'operations', 'sendOrderShipped'))],
    [/^event order.shipped.v1 from orders: is no longer sent/],
  ],
  [
    'an event that is no longer handled',
    [remove(event('notifications', 'operations', 'onOrderShipped'))],
    [/^event order.shipped.v1 to notifications: is no longer handled/],
  ],
  [
    'a removed member of an event',
    [remove([...created('orders'), 'properties', 'totalCost'])],
    [/^member data of event order.created.v1 from orders: the member totalCost was removed/],
  ],
  [
    'a new required member of an event that is handled',
    [add([...created('notifications'), 'required'], 'paymentDueAt')],
    [/^member data of event order.created.v1 to notifications: the member paymentDueAt is required now/],
  ],
  [
    'another exchange',
    [set(event('orders', 'components', 'channelBindings', 'exchange', 'amqp', 'exchange', 'name'), 'events')],
    [/^event order.created.v1 from orders: its binding to the broker was changed/],
  ],
  [
    'another queue',
    [set(event('orders', 'x-consumer'), 'orders.all')],
    [/^asyncapi.yaml of orders: x-consumer was orders.effects and is orders.all/],
  ],
];

const operators: readonly Case[] = [
  [
    'an edited migration',
    [set(['migrations', 'orders', '0001_orders.sql'], 'another digest')],
    [/^migration 0001_orders.sql of orders: was edited/],
  ],
  [
    'a removed migration',
    [remove(['migrations', 'shared', '0001_events.sql'])],
    [/^migration 0001_events.sql of shared: was removed/],
  ],
  [
    'a removed setting',
    [remove(setting('orders', 'properties', 'HOLD_UNITS'))],
    [/^setting HOLD_UNITS of orders: was removed/],
  ],
  [
    'another default of a setting',
    [set(setting('orders', 'properties', 'HOLD_UNITS', 'default'), '50')],
    [/^setting HOLD_UNITS of orders: the default was "100" and is "50"/],
  ],
  [
    'a default of a setting that had none',
    [set(setting('orders', 'properties', 'METRICS_PORT', 'default'), '9464')],
    [/^setting METRICS_PORT of orders: the default was absent and is "9464"/],
  ],
  [
    'a narrower setting',
    [set(setting('gateway', 'properties', 'BOARD', 'enum'), ['on'])],
    [/^setting BOARD of gateway: no longer accepts "off"/],
  ],
  [
    'another scheme of an address',
    [set(setting('orders', 'properties', 'EVENTS_URL', 'anyOf'), [{ pattern: '^postgres://' }])],
    [/^setting EVENTS_URL of orders: alternative 1 is no longer accepted/],
  ],
  [
    'a new required setting',
    [set(setting('catalogue', 'properties', 'ZONE'), {}), add(setting('catalogue', 'required'), 'ZONE')],
    [/^setting ZONE of catalogue: is required now/],
  ],
  [
    'a longer secret',
    [set(setting('orders', 'properties', 'INTERNAL_SECRET', 'minLength'), 40)],
    [/^setting INTERNAL_SECRET of orders: the minimum length was 32 and is 40/],
  ],
  [
    'another volume for the data of a server',
    [set(compose('postgres', 'volume at /var/lib/postgresql'), 'data')],
    [/^service postgres of docker compose: volume at \/var\/lib\/postgresql was postgres and is data/],
  ],
  [
    'another place of a volume',
    [rename(compose('postgres', 'volume at /var/lib/postgresql'), 'volume at /data')],
    [/^service postgres of docker compose: volume at .* was postgres and is absent/],
  ],
  [
    'another host name of RabbitMQ',
    [set(compose('rabbitmq', 'hostname'), 'broker')],
    [/^service rabbitmq of docker compose: hostname was rabbitmq and is broker/],
  ],
  [
    'another selector of an object on Kubernetes',
    [set(production('Deployment orders', 'selector'), 'app=orders')],
    [/^Deployment orders of overlay production: selector was .* and is app=orders/],
  ],
  [
    'another port of a Service on Kubernetes',
    [set(production('Service gateway', 'port http'), 80)],
    [/^Service gateway of overlay production: port http was 8080 and is 80/],
  ],
  [
    'a renamed cluster on Kubernetes',
    [rename(production('Cluster postgres'), 'Cluster database')],
    [/^Cluster postgres of overlay production: was removed/],
  ],
  ['a removed command', [remove(command('orders refunds'))], [/^command orders refunds: was removed/]],
  [
    'a removed option',
    [remove(command('orders ship', 'options', '--carrier'))],
    [/^option --carrier of command orders ship: was removed/],
  ],
  [
    'a new required option',
    [set(command('orders ship', 'options', '--reason'), { value: 'required', required: true })],
    [/^option --reason of command orders ship: is new and required/],
  ],
  [
    'a new required argument',
    [add(command('orders count', 'arguments'), { name: 'day', required: true })],
    [/^argument day of command orders count: is new and required/],
  ],
  [
    'an argument with one value instead of several',
    [set(command('orders ship', 'arguments', 0, 'variadic'), false)],
    [/^argument order of command orders ship: no longer takes several values/],
  ],
  [
    'another default of an option',
    [set(command('orders list', 'options', '--limit', 'default'), 10)],
    [/^option --limit of command orders list: the default was 20 and is 10/],
  ],
  ['another exit code', [set(command('exitCodes', 'partly'), 4)], [/^exit codes: partly was 3 and is 4/]],
  [
    'a removed member of an output',
    [remove(output('properties', 'totalCost'))],
    [/^schema Order: the member totalCost was removed \(in .*output of orders .* --json\)/],
  ],
  [
    'another type in an output',
    [set(output('properties', 'totalCost', 'type'), 'string')],
    [/^member totalCost of schema Order: may now be string/],
  ],
  ['a removed output', [remove(['outputs', 'commands', 'status'])], [/^output of status --json: was removed/]],
  [
    'a renamed metric',
    [rename(['metrics', 'shop.orders'], 'shop.placed_orders')],
    [/^metric shop.orders: was removed/],
  ],
  [
    'another unit of a metric',
    [set(['metrics', 'shop.outbox.lag', 'unit'], 'ms')],
    [/^metric shop.outbox.lag: its unit was s and is ms/],
  ],
  [
    'another kind of a metric',
    [set(['metrics', 'shop.orders', 'kind'], 'gauge')],
    [/^metric shop.orders: its kind was counter and is gauge/],
  ],
  [
    'a removed attribute of a metric',
    [set(['metrics', 'shop.emails', 'attributes'], ['shop.email.kind'])],
    [/^metric shop.emails: shop.outcome was removed from its attributes/],
  ],
  [
    'an attribute of a metric that may be absent',
    [
      set(['metrics', 'shop.emails', 'attributes'], ['shop.email.kind']),
      set(['metrics', 'shop.emails', 'sometimes'], ['shop.outcome']),
    ],
    [/^metric shop.emails: shop.outcome may be absent now/],
  ],
  [
    'a removed boundary of a histogram',
    [set(['metrics', 'shop.outbox.delay', 'boundaries'], [1, 10])],
    [/^metric shop.outbox.delay: 0.005 was removed from its boundaries/],
  ],
];

const harmless: readonly (readonly [title: string, edits: readonly Edit[]])[] = [
  ['a new optional member of a request', [set(schema('NewOrder', 'properties', 'note'), { type: 'string' })]],
  [
    'a new member of a response',
    [set(schema('Order', 'properties', 'note'), {}), add(schema('Order', 'required'), 'note')],
  ],
  ['a member of a response that is always present now', [add(schema('Order', 'required'), 'customer')]],
  [
    'a new operation',
    [set(['openapi', 'paths', '/v1/reviews'], { get: { operationId: 'listReviews', responses: {} } })],
  ],
  [
    'a new optional parameter',
    [add(listOrders('parameters'), { name: 'zone', in: 'query', schema: { type: 'string' } })],
  ],
  ['a wider bound of a request', [set([...limit, 'maximum'], 200)]],
  ['a removed pattern of a request', [remove([...key, 'schema', 'pattern'])]],
  ['a larger body', [set(createOrder('requestBody', 'x-max-bytes'), 65_536)]],
  ['a new error of an operation', [set(at('get', '/v1/brands', 'responses', '410'), { description: 'It is gone.' })]],
  ['a new problem code', [set(['problems', 'too-early'], 425)]],
  ['a new migration', [set(['migrations', 'orders', '0020_gift.sql'], 'a digest')]],
  ['an operation that needs no credentials any more', [set(shipOrder('security'), [])]],
  ['a further scope of machines', [add(listOrders('x-machine-scopes'), 'orders:fulfil')]],
  [
    'other descriptions and examples',
    [
      set(listOrders('description'), 'Orders.'),
      set(schema('Order', 'description'), 'An order.'),
      set(schema('Order', 'examples'), []),
    ],
  ],
  ['a deprecation', [set(at('get', '/v1/brands', 'deprecated'), true)]],
  [
    'another order of members',
    [
      reverseMembers(schema('Order', 'properties')),
      reverseMembers(schema('NewOrder')),
      reverseMembers(['openapi', 'paths']),
    ],
  ],
  [
    'a component in place of the same schema',
    [
      set(schema('Total'), { $ref: '#/components/schemas/Money' }),
      set(schema('Order', 'properties', 'totalCost'), { $ref: '#/components/schemas/Total' }),
    ],
  ],
  [
    'a new event',
    [
      set(event('orders', 'channels', 'orderLost'), { address: 'order.lost.v1', messages: {} }),
      set(event('orders', 'operations', 'sendOrderLost'), {
        action: 'send',
        channel: { $ref: '#/channels/orderLost' },
      }),
    ],
  ],
  [
    'a new optional member of an event',
    ['orders', 'notifications', 'catalogue'].map((service) =>
      set([...created(service), 'properties', 'channel'], { type: 'string' }),
    ),
  ],
  ['a new setting with a default', [set(setting('orders', 'properties', 'ZONE'), { type: 'string', default: 'eu' })]],
  [
    'a wider setting',
    [
      set(setting('orders', 'properties', 'HOLD_UNITS', 'maximum'), 2_000_000),
      add(setting('gateway', 'properties', 'BOARD', 'enum'), 'staff'),
    ],
  ],
  [
    'a further scheme of an address',
    [add(setting('orders', 'properties', 'EVENTS_URL', 'anyOf'), { pattern: '^nats://' })],
  ],
  ['a shorter secret', [set(setting('orders', 'properties', 'INTERNAL_SECRET', 'minLength'), 16)]],
  [
    'a further volume, a further object on Kubernetes and a further port',
    [
      set(compose('redis'), { 'volume at /data': 'redis' }),
      set(production('Service redis'), { 'port redis': 6379 }),
      set(production('Service gateway', 'port https'), 8443),
    ],
  ],
  ['a new command', [set(command('orders split'), { arguments: [], options: {} })]],
  [
    'a new option and a new optional argument',
    [
      set(command('orders ship', 'options', '--quick'), { value: 'none', required: false }),
      add(command('orders count', 'arguments'), { name: 'day', required: false }),
    ],
  ],
  ['a new member of an output', [set(output('properties', 'note'), { type: 'string' })]],
  ['a new metric', [set(['metrics', 'shop.reviews'], { kind: 'counter', unit: '{review}' })]],
  [
    'a format that tells generators how to show a value, and restricts none',
    [set(schema('PhoneNumber', 'format'), 'password')],
  ],
  ['another address of the API beside the first', [add(['openapi', 'servers'], { url: 'https://shop.example.com' })]],
  [
    'an attribute of a metric that is always present now',
    [add(['metrics', 'http.server.request.duration', 'attributes'], 'http.route')],
  ],
  ['a new attribute of a metric', [add(['metrics', 'shop.orders', 'attributes'], 'shop.channel')]],
];

const textsAfter = (edits: readonly Edit[]): string[] =>
  breakingChanges(present, edited(...edits)).map(({ text }) => text);

describe('the gate', () => {
  it.each([...operations, ...events, ...operators])(
    'the gate reports %s, and where it is',
    (_title, edits, expected) => {
      const texts = textsAfter(edits);
      for (const pattern of expected) expect(texts).toContainEqual(expect.stringMatching(pattern));
    },
  );

  it.each(harmless)('the gate accepts %s', (_title, edits) => {
    expect(textsAfter(edits)).toEqual([]);
  });

  it('the gate accepts schemas of responses that were closed in the release and are open now', () => {
    const closed = edited(set(schema('Order', 'additionalProperties'), false));
    expect(breakingChanges(closed, present)).toEqual([]);
    expect(breakingChanges(closed, edited(set(schema('Order', 'properties', 'parcels'), { type: 'integer' })))).toEqual(
      [],
    );
  });

  it('the gate accepts contracts that did not change', () => {
    expect(textsAfter([])).toEqual([]);
  });
});

describe('CHANGELOG.md', () => {
  const change = { subject: 'HOLD_UNITS', text: 'setting HOLD_UNITS of orders: was removed' };
  const older = '## [1.1.0] - 2026-11-25\n\n- First.\n';
  const section = (version: string, text: string): string => `# Changelog\n\n## [${version}]\n\n${text}\n\n${older}`;

  it('CHANGELOG.md announces a breaking change by its name, below Breaking of a new major version', () => {
    const announced = section('2.0.0', '### Added\n\n- More.\n\n### Breaking\n\n- `HOLD_UNITS` is no longer read.');
    expect(unannounced([change], announced, '1.1.0')).toEqual([]);
  });

  it.each([
    ['in a section without a version', section('Unreleased', '### Breaking\n\n- `HOLD_UNITS` is no longer read.')],
    ['in a minor version', section('1.2.0', '### Breaking\n\n- `HOLD_UNITS` is no longer read.')],
    ['below another heading', section('2.0.0', '### Breaking\n\n- Nothing.\n\n### Removed\n\n- `HOLD_UNITS`.')],
    ['by another name', section('2.0.0', '### Breaking\n\n- `HOLD_ORDERS` is no longer read.')],
    ['in an older section', `# Changelog\n\n## [Unreleased]\n\n${section('2.0.0', '### Breaking\n\n- `HOLD_UNITS`')}`],
  ])('CHANGELOG.md does not announce it %s', (_where, changelog) => {
    expect(unannounced([change], changelog, '1.1.0')).toEqual([change]);
  });

  it('CHANGELOG.md gets the version and the date of a release, below a new section', () => {
    expect(withRelease(section('Unreleased', '- More.'), '1.2.0', '2026-12-01')).toContain(
      '## [Unreleased]\n\n## [1.2.0] - 2026-12-01\n\n- More.',
    );
    expect(() => withRelease(section('2.0.0', '- More.'), '1.2.0', '2026-12-01')).toThrow('neither [Unreleased] nor');
  });
});
