/**
 * Providers of the catalog without a declaration. The gateway connects to them and forwards requests, but does not
 * move their records.
 */
import type { Provider } from '../contract.ts';
import { DECLARED } from '../declared/all.ts';
import { type CatalogEntry, createCatalogProvider } from './catalog-entry.ts';
import { MICROSOFT_TOKENS } from './microsoft-tokens.ts';

/** Providers with service accounts: a key is exchanged for tokens. */
const SERVICE_ACCOUNT_ENTRIES: CatalogEntry[] = [
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

/** OAuth 2 providers with one base URL for all customers. */
const OAUTH2_ENTRIES: CatalogEntry[] = [
  {
    name: 'dropbox',
    displayName: 'Dropbox',
    baseUrl: 'https://api.dropboxapi.com',
    authSchemes: ['OAUTH2_AUTHORIZATION_CODE'],
    oauth2: {
      authorizeUrl: 'https://www.dropbox.com/oauth2/authorize',
      tokenUrl: 'https://api.dropboxapi.com/oauth2/token',
      // Dropbox, OAuth guide: without this parameter, a token lasts four hours and no refresh token is issued.
      authorizeParams: { token_access_type: 'offline' },
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
      ...MICROSOFT_TOKENS,
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
      // Slack: errors of oauth.v2.access. They have the status 200.
      tokenErrors: [
        { code: 'invalid_refresh_token', kind: 'AUTH_INVALIDATED' },
        { code: 'invalid_auth', kind: 'AUTH_INVALIDATED' },
        { code: 'invalid_code', kind: 'AUTH_INVALIDATED' },
        { code: 'token_expired', kind: 'AUTH_INVALIDATED' },
        { code: 'token_revoked', kind: 'AUTH_INVALIDATED' },
        { code: 'account_inactive', kind: 'AUTH_INVALIDATED' },
      ],
    },
  },
];

/** OAuth 2 providers with a base URL for each customer. */
const OAUTH2_BY_WORKSPACE_ENTRIES: CatalogEntry[] = [
  {
    name: 'gong',
    displayName: 'Gong',
    // Gong's token response contains the customer's base URL, which is stored as the workspace.
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

/** Providers that accept a key or password instead of OAuth. */
const KEY_ENTRIES: CatalogEntry[] = [
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

const ENTRIES = [
  ...OAUTH2_ENTRIES,
  ...OAUTH2_BY_WORKSPACE_ENTRIES,
  ...KEY_ENTRIES,
  ...SERVICE_ACCOUNT_ENTRIES,
];

export const CATALOG: readonly Provider[] = [...DECLARED, ...ENTRIES.map(createCatalogProvider)];
