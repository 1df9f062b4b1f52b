/** What callers say of a connection. */
import { z } from 'zod';
import { id } from '../../ids.ts';
import { AUTH_SCHEMES } from '../../providers/contract.ts';
import { jsonObject } from '../json-object.ts';
import { projectIdOrName, ref } from '../names.ts';
import { credentialFields, oauthScopes } from './credential-input.ts';

const groupRef = ref.describe("The builder's own name of the group, 1 to 256 characters.");
const consumerRef = ref.describe("The builder's own name of the consumer, 1 to 256 characters.");
const provider = z.string().min(1).max(128).describe('A provider of the catalogue.');
const connectionId = id.describe('The connection.');
const authScheme = z.enum(AUTH_SCHEMES).meta({ id: 'AuthScheme' });
const workspaceRef = z.string().min(1).max(1_024);

/** Who connects to what. */
const connecting = {
  projectIdOrName,
  groupRef,
  consumerRef,
  provider,
  groupName: ref.nullish().describe('What people call the group. Default: the ref.'),
  consumerName: ref.nullish().describe('What people call the consumer. Default: the ref.'),
  providerAppId: id
    .nullish()
    .describe("The OAuth app that it came by. Default: the project's newest app for the provider."),
  providerWorkspaceRef: workspaceRef
    .nullish()
    .describe('The workspace at the provider, where the provider has them.'),
  providerMetadata: jsonObject.nullish().describe('Further facts of the account, 16 KiB at most.'),
};

export const generateConnectionInput = z
  .object({
    ...connecting,
    apiKey: credentialFields.apiKey.nullish(),
    basicAuth: credentialFields.basicAuth.nullish(),
    oauth2ClientCredentials: credentialFields.oauth2ClientCredentials.nullish(),
    oauth2PasswordCredentials: credentialFields.oauth2PasswordCredentials.nullish(),
    oauth2AuthorizationCode: credentialFields.oauth2AuthorizationCode.nullish(),
    customAuth: credentialFields.customAuth.nullish(),
    authScheme: authScheme
      .nullish()
      .describe('Which scheme, where the credentials fit several. Default: the first that fits.'),
  })
  .meta({
    id: 'GenerateConnectionInput',
    description: 'At most one credential field, which fits a scheme of the provider.',
  });

export const startOAuthConnectInput = z
  .object({
    ...connecting,
    scopes: oauthScopes.nullish().describe("The scopes to ask for. Default: the app's."),
    authScheme: authScheme
      .nullish()
      .describe('With or without PKCE. Default: as the provider does.'),
    redirectUrl: z
      .url()
      .max(2_048)
      .nullish()
      .describe('Where the browser goes afterwards; its origin must be an allowed one.'),
  })
  .meta({ id: 'StartOAuthConnectInput', description: 'Who is to connect to what in a browser.' });

export const updateConnectionInput = z
  .object({
    projectIdOrName,
    connectionId,
    providerWorkspaceRef: connecting.providerWorkspaceRef,
    providerMetadata: connecting.providerMetadata,
    apiKey: credentialFields.apiKey.optional(),
    basicAuth: credentialFields.basicAuth.optional(),
    oauth2ClientCredentials: credentialFields.oauth2ClientCredentials.optional(),
    oauth2PasswordCredentials: credentialFields.oauth2PasswordCredentials.optional(),
    oauth2AuthorizationCode: credentialFields.oauth2AuthorizationCode.optional(),
    customAuth: credentialFields.customAuth.optional(),
  })
  .meta({
    id: 'UpdateConnectionInput',
    description: 'What to change; what is left out stays. Credentials fit the scheme that it has.',
  });

export const refreshConnectionInput = z
  .object({ projectIdOrName, connectionId })
  .meta({ id: 'RefreshConnectionInput', description: 'A connection whose token to refresh.' });

export const deleteConnectionInput = z
  .object({ projectIdOrName, connectionId })
  .meta({ id: 'DeleteConnectionInput', description: 'A connection to delete.' });
