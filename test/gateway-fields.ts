// The header fields that the gateway adds to the answers of services: no contract names them.

export const gatewayFields = [
  'content-security-policy',
  'cross-origin-resource-policy',
  'ratelimit',
  'ratelimit-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
];
