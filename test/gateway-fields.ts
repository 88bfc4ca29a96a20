// The header fields that the gateway adds to the responses of services, and that no contract lists.

export const gatewayFields = [
  'content-security-policy',
  'cross-origin-resource-policy',
  'ratelimit',
  'ratelimit-policy',
  'referrer-policy',
  'strict-transport-security',
  'x-content-type-options',
  'x-frame-options',
];
