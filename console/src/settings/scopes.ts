/** What a key may be given; the gateway names all of them when it refuses another. */
export const SCOPES = [
  'full',
  'read',
  'connections:write',
  'integrations:write',
  'installations:write',
  'records:read',
  'records:write',
  'reads:control',
  'events:write',
  'keys:write',
  'provider-apps:write',
  'org:read',
  'org:write',
  'frontend',
  'payloads:read',
  'credentials:read',
] as const;
