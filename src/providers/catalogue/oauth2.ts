/** OAuth 2 providers that have one address for all customers. */
import type { CatalogueRow } from './row.ts';

export const OAUTH2_ROWS: CatalogueRow[] = [
  {
    name: 'dropbox',
    displayName: 'Dropbox',
    baseUrl: 'https://api.dropboxapi.com',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: 'https://www.dropbox.com/oauth2/authorize',
      tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
      tokenFields: { consumerRef: 'account_id', scopes: 'scope' },
    },
  },
  {
    name: 'google',
    displayName: 'Google',
    baseUrl: 'https://www.googleapis.com',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE'],
    oauth2: {
      authorizeUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
      tokenUrl: 'https://oauth2.googleapis.com/token',
      revocation: { method: 'POST', url: 'https://oauth2.googleapis.com/revoke' },
      authorizeParams: { access_type: 'offline', prompt: 'consent' },
      explicitScopesRequired: true,
      tokenFields: { scopes: 'scope' },
    },
  },
  {
    name: 'linkedIn',
    displayName: 'LinkedIn',
    baseUrl: 'https://api.linkedin.com',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: 'https://www.linkedin.com/oauth/v2/authorization',
      tokenUrl: 'https://www.linkedin.com/oauth/v2/accessToken',
      explicitScopesRequired: true,
      tokenFields: { scopes: 'scope' },
    },
  },
  {
    name: 'microsoft',
    displayName: 'Microsoft',
    baseUrl: 'https://graph.microsoft.com',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE', 'OAUTH2_AUTHORIZATION_CODE_PKCE'],
    oauth2: {
      authorizeUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
      tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
      explicitScopesRequired: true,
    },
  },
  {
    name: 'quickbooks',
    displayName: 'QuickBooks',
    baseUrl: 'https://quickbooks.api.intuit.com',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: 'https://appcenter.intuit.com/connect/oauth2',
      tokenUrl: 'https://oauth.platform.intuit.com/oauth2/v1/tokens/bearer',
      explicitScopesRequired: true,
      clientAuthentication: 'basic',
    },
  },
  {
    name: 'slack',
    displayName: 'Slack',
    baseUrl: 'https://slack.com/api',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: 'https://slack.com/oauth/v2/authorize',
      tokenUrl: 'https://slack.com/api/oauth.v2.access',
      explicitScopesRequired: true,
      scopeSeparator: ',',
      tokenFields: { scopes: 'scope', workspaceRef: 'workspace_name' },
    },
  },
];
