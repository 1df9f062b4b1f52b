/** Connections in responses, with their group, consumer and app. */
import { z } from 'zod';
import { loaded } from '../../../domain/access/relations.ts';
import { byId, type Row } from '../../../domain/access/scope.ts';
import { computed } from '../../../domain/base/resource.ts';
import { connectionResource } from '../../../domain/connections/connection/connection.ts';
import { connectionCredentialsResource } from '../../../domain/connections/connection/connection-credentials.ts';
import { providerAppResource } from '../../../domain/connections/provider/provider-app.ts';
import { consumerResource, groupResource } from '../../../domain/tenants/project/parties.ts';
import { extendResource } from '../../openapi/response-form.ts';

type Connection = Row<'Connection'>;

/** A value of `providerMetadata`, with its source. */
const metadataEntry = z.object({
  value: z.string().describe('The value. As JSON if it is not a string.'),
  source: z
    .enum(['input', 'token', 'provider'])
    .describe(
      "The source of the value: the builder's input, the provider together with the token, or the provider later.",
    ),
  displayName: z.string().optional().describe('The display name.'),
});

type MetadataEntry = z.output<typeof metadataEntry>;

const { apiKey, oauth2AuthorizationCode } = connectionCredentialsResource.shape;

/** The row has credentials only if the request asks for them. */
export const connection = extendResource(connectionResource, {
  group: loaded(groupResource, byId('Group'), ({ groupId }: Connection) => groupId),
  consumer: loaded(consumerResource, byId('Consumer'), ({ consumerId }: Connection) => consumerId),
  providerApp: loaded(
    providerAppResource.nullable(),
    byId('ProviderApp'),
    ({ providerAppId }: Connection) => providerAppId,
  ),
  providerMetadata: computed(
    z
      .record(z.string(), metadataEntry)
      .nullable()
      .describe(
        'Metadata of the account, from the builder and the provider, by name. `workspace` is providerWorkspaceRef.',
      ),
    showMetadata,
  ),
  apiKey: apiKey.describe('The API key in plain text; only if includeCreds is true.'),
  oauth2AuthorizationCode: oauth2AuthorizationCode.describe(
    'The tokens in plain text; only if includeCreds or includeRefreshToken is true.',
  ),
});

/**
 * Returns the metadata with the workspace, which pages of the reference API's clients read there. A stored value without a
 * source came from the builder's input.
 */
function showMetadata({
  providerMetadata,
  providerWorkspaceRef,
  isWorkspaceFromToken,
}: Connection): Record<string, MetadataEntry> | null {
  if (providerMetadata === null && providerWorkspaceRef === null) return null;
  const entries = Object.entries(Object(providerMetadata)).map(([name, value]) => {
    const { data } = metadataEntry.safeParse(value);
    const formattedValue = typeof value === 'string' ? value : JSON.stringify(value);
    return [name, data ?? { value: formattedValue, source: 'input' }] as const;
  });
  const metadata: Record<string, MetadataEntry> = Object.fromEntries(entries);
  if (providerWorkspaceRef === null) return metadata;
  const source = isWorkspaceFromToken ? 'token' : 'input';
  return { ...metadata, workspace: { ...metadata.workspace, value: providerWorkspaceRef, source } };
}
