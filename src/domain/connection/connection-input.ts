/** Inputs of the mutations of connections. */
import { z } from 'zod';
import { id } from '../../ids.ts';
import { AUTH_SCHEMES } from '../../providers/contract.ts';
import type { ExclusiveMembers } from '../declared-mutation.ts';
import { jsonObject } from '../json-object.ts';
import { projectIdOrName, ref } from '../names.ts';
import { orDefault } from '../optional-value.ts';
import { CREDENTIAL_FIELDS, credentialFields, oauthScopes } from './credential-input.ts';

const groupRef = ref.describe(
  "The builder's own id of the group, 1 to 256 characters. Its first use creates the group.",
);
const consumerRef = ref.describe(
  "The builder's own id of the consumer, 1 to 256 characters. Its first use creates the consumer.",
);
const provider = z.string().min(1).max(128).describe('The name of a provider of the catalogue.');
const connectionId = id.describe('The id of the connection.');
const authScheme = z.enum(AUTH_SCHEMES).meta({ id: 'AuthScheme' });
const workspaceRef = z.string().min(1).max(1_024);

/** The members of every input that connects an account. */
const connecting = {
  projectIdOrName,
  groupRef,
  consumerRef,
  provider,
  groupName: ref
    .nullish()
    .describe(
      'The name of the group that people see, 1 to 256 characters. Default: the name that it has, or its ref.',
    ),
  consumerName: ref
    .nullish()
    .describe(
      'The name of the consumer that people see, 1 to 256 characters. Default: the name that it has, or its ref.',
    ),
  providerAppId: id
    .nullish()
    .describe(
      "The id of the provider app to use. Default: the project's newest app for the provider.",
    ),
  providerWorkspaceRef: workspaceRef
    .nullish()
    .describe(
      'The workspace of the account, for providers whose addresses depend on it: a subdomain, an instance or a site.',
    ),
  providerMetadata: jsonObject
    .nullish()
    .describe(
      'Further values of the account that the provider needs or the builder wants to keep: at most 16 KiB of JSON.',
    ),
};

const skipCheck = orDefault(z.boolean(), false).describe(
  'If true, stores the credentials without checking that the provider accepts them. Default: false.',
);

function credentials(description: string): ExclusiveMembers {
  return {
    name: 'credentials',
    description,
    isRequired: false,
    type: {
      id: 'ConnectionCredentialsInput',
      description:
        'Credentials of a connection: exactly one member, which must fit a scheme of the provider.',
    },
    members: CREDENTIAL_FIELDS,
  };
}

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
      .describe(
        'The scheme to use if the credentials fit several. Default: the first of the provider that fits.',
      ),
    skipCheck,
  })
  .meta({
    id: 'GenerateConnectionInput',
    description: 'The account to connect: its group, consumer, provider and credentials.',
    exclusive: [credentials('The credentials of the account. Default: none.')],
  });

export const startOAuthConnectInput = z
  .object({
    ...connecting,
    scopes: oauthScopes
      .nullish()
      .describe('The OAuth scopes to request. Default: those of the provider app.'),
    authScheme: authScheme
      .nullish()
      .describe(
        'Authorization code with or without PKCE. Default: with PKCE if the provider supports it.',
      ),
    redirectUrl: z
      .url()
      .max(2_048)
      .nullish()
      .describe(
        'The URL that the browser goes to afterwards. `Project.allowedOrigins`, or REDIRECT_ORIGINS of the server, must hold its origin. Default: a page of the gateway.',
      ),
  })
  .meta({
    id: 'StartOAuthConnectInput',
    description:
      'The account that a person connects in a browser: its group, consumer and provider.',
  });

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
    skipCheck,
  })
  .meta({
    id: 'UpdateConnectionInput',
    description:
      'The new values of a connection. Absent fields keep theirs. New credentials must fit the scheme of the connection, and are required if its address gets another host.',
    exclusive: [credentials('The new credentials. Default: the stored ones.')],
  });

export const refreshConnectionInput = z.object({ projectIdOrName, connectionId }).meta({
  id: 'RefreshConnectionInput',
  description: 'The connection whose access token is refreshed.',
});

export const deleteConnectionInput = z
  .object({ projectIdOrName, connectionId })
  .meta({ id: 'DeleteConnectionInput', description: 'The connection to delete.' });
