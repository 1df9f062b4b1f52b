/** Inputs of the mutations of connections. */
import { z } from 'zod';
import { id } from '../../../kernel/ids.ts';
import type { ExclusiveMembers } from '../../access/declared-mutation.ts';
import { boundedJsonObject, orDefault } from '../../base/input-schemas.ts';
import { projectIdOrName, ref } from '../../base/names.ts';
import { authScheme } from '../provider/provider.ts';
import { CREDENTIAL_FIELDS, credentialFields, oauthScopes } from './credential-input.ts';

const groupRef = ref.describe(
  "The builder's own id for the group, 1 to 256 characters. Its first use creates the group.",
);
const consumerRef = ref.describe(
  "The builder's own id for the consumer, 1 to 256 characters. Its first use creates the consumer.",
);
const provider = z.string().min(1).max(128).describe('The name of a provider in the catalog.');
const connectionId = id.describe('The id of the connection.');
const workspaceRef = z.string().min(1).max(1_024);

/** The members of every input that connects an account. */
const accountMembers = {
  projectIdOrName,
  groupRef,
  consumerRef,
  provider,
  groupName: ref
    .nullish()
    .describe(
      'The display name of the group, 1 to 256 characters. Default: the current name, or the ref of a new group.',
    ),
  consumerName: ref
    .nullish()
    .describe(
      'The display name of the consumer, 1 to 256 characters. Default: the current name, or the ref of a new consumer.',
    ),
  providerAppId: id
    .nullish()
    .describe(
      "The id of the provider app to use. Default: the project's newest app for the provider.",
    ),
  providerWorkspaceRef: workspaceRef
    .nullish()
    .describe(
      'The workspace of the account (a subdomain, an instance or a site), for providers whose addresses depend on it.',
    ),
  providerMetadata: boundedJsonObject
    .nullish()
    .describe(
      'Other facts about the account that the provider needs or the builder wants to keep. At most 16 KiB of JSON.',
    ),
};

const skipCheck = orDefault(z.boolean(), false).describe(
  'If true, stores the credentials without checking that the provider accepts them. Default: false.',
);

function declareCredentials(description: string): ExclusiveMembers {
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
    ...accountMembers,
    apiKey: credentialFields.apiKey.nullish(),
    basicAuth: credentialFields.basicAuth.nullish(),
    oauth2ClientCredentials: credentialFields.oauth2ClientCredentials.nullish(),
    oauth2PasswordCredentials: credentialFields.oauth2PasswordCredentials.nullish(),
    oauth2AuthorizationCode: credentialFields.oauth2AuthorizationCode.nullish(),
    customAuth: credentialFields.customAuth.nullish(),
    authScheme: authScheme
      .nullish()
      .describe(
        "The authentication scheme, if the credentials fit several. Default: the provider's first scheme that fits.",
      ),
    skipCheck,
  })
  .meta({
    id: 'GenerateConnectionInput',
    description: 'The account to connect: its group, consumer, provider and credentials.',
    exclusive: declareCredentials('The credentials of the account. Default: none.'),
  });

export const startOAuthConnectInput = z
  .object({
    ...accountMembers,
    scopes: oauthScopes
      .nullish()
      .describe('The OAuth scopes to request. Default: the scopes of the provider app.'),
    authScheme: authScheme
      .nullish()
      .describe(
        'The authorization code scheme, with or without PKCE. Default: with PKCE if the provider supports it.',
      ),
    redirectUrl: z
      .url()
      .max(2_048)
      .nullish()
      .describe(
        'The URL to which the browser returns afterwards. Its origin must be in `Project.allowedOrigins`, or in REDIRECT_ORIGINS of the server. Default: a page of the gateway.',
      ),
  })
  .meta({
    id: 'StartOAuthConnectInput',
    description: 'The account to connect in a browser: its group, consumer and provider.',
  });

export const updateConnectionInput = z
  .object({
    projectIdOrName,
    connectionId,
    providerWorkspaceRef: accountMembers.providerWorkspaceRef,
    providerMetadata: accountMembers.providerMetadata,
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
      'The new values of a connection. Omitted fields keep their values. New credentials must fit the scheme of the connection. They are required if its address changes to another origin.',
    exclusive: declareCredentials('The new credentials. Default: the stored ones.'),
  });

export const refreshConnectionInput = z.object({ projectIdOrName, connectionId }).meta({
  id: 'RefreshConnectionInput',
  description: 'The connection whose access token to refresh.',
});

export const deleteConnectionInput = z
  .object({ projectIdOrName, connectionId })
  .meta({ id: 'DeleteConnectionInput', description: 'The connection to delete.' });
