/** OAuth 2 providers that give each customer an address of its own. */
import type { CatalogueRow } from './row.ts';

export const OAUTH2_BY_WORKSPACE_ROWS: CatalogueRow[] = [
  {
    name: 'gong',
    displayName: 'Gong',
    // Gong's token answer names the customer's whole base URL: that is its workspace.
    baseUrl: '{{workspace}}',
    hosts: { workspace: ['api.gong.io', '*.api.gong.io'] },
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: 'https://app.gong.io/oauth2/authorize',
      tokenUrl: 'https://app.gong.io/oauth2/generate-customer-token',
      explicitScopesRequired: true,
      clientAuthentication: 'basic',
      tokenFields: { workspaceRef: 'api_base_url_for_customer', scopes: 'scope' },
    },
  },
  {
    name: 'marketo',
    displayName: 'Marketo Engage',
    baseUrl: 'https://{{workspace}}.mktorest.com',
    authSchemes: ['OAUTH2_CLIENT_CREDENTIALS'],
    oauth2: {
      tokenUrl: 'https://{{workspace}}.mktorest.com/identity/oauth/token',
      tokenFields: { scopes: 'scope' },
    },
    workspaceRequired: true,
  },
  {
    name: 'netsuite',
    displayName: 'NetSuite',
    baseUrl: 'https://{{workspace}}.suitetalk.api.netsuite.com',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: 'https://{{workspace}}.app.netsuite.com/app/login/oauth2/authorize.nl',
      tokenUrl:
        'https://{{workspace}}.suitetalk.api.netsuite.com/services/rest/auth/oauth2/v1/token',
      explicitScopesRequired: true,
      clientAuthentication: 'basic',
    },
    workspaceRequired: true,
  },
];
