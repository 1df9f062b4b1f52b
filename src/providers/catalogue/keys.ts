/** Providers that take a key or a password, with no OAuth. */
import type { CatalogueRow } from './row.ts';

export const KEY_ROWS: CatalogueRow[] = [
  {
    name: 'jotform',
    displayName: 'Jotform',
    baseUrl: 'https://api.jotform.com',
    authSchemes: ['API_KEY'],
    apiKey: { in: 'query', name: 'apiKey' },
    healthCheck: '/user',
  },
  {
    name: 'sendGrid',
    displayName: 'SendGrid',
    baseUrl: 'https://api.sendgrid.com',
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    healthCheck: '/v3/scopes',
  },
];
