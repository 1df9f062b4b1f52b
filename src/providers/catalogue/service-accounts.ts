/** Providers that are reached as a machine's own account: its key is exchanged for tokens. */
import type { CatalogueRow } from './row.ts';

export const SERVICE_ACCOUNT_ROWS: CatalogueRow[] = [
  {
    name: 'googleServiceAccount',
    displayName: 'Google (service account)',
    baseUrl: 'https://www.googleapis.com',
    authSchemes: ['NONE'],
    custom: {
      inputs: [
        { name: 'serviceAccountKey', displayName: 'Key file of the service account, as base64' },
        { name: 'scopes', displayName: 'Scopes, a list' },
        {
          name: 'subject',
          displayName: 'Address of the user to act for, with domain-wide delegation',
          optional: true,
        },
      ],
      serviceAccount: {
        tokenUrl: 'https://oauth2.googleapis.com/token',
        key: 'serviceAccountKey',
        scopes: 'scopes',
        subject: 'subject',
      },
    },
  },
];
