/** Connections in responses, with their group, consumer and app. */
import { z } from 'zod';
import { connectionResource } from '../../domain/connection/connection.ts';
import { connectionCredentialsResource } from '../../domain/connection/credentials.ts';
import { consumerResource } from '../../domain/project/consumer.ts';
import { groupResource } from '../../domain/project/group.ts';
import { providerAppResource } from '../../domain/provider/provider-app.ts';
import { loaded } from '../../domain/relations.ts';
import { computed } from '../../domain/resource.ts';
import { byId, type Row } from '../../domain/scope.ts';
import { extendResource } from '../openapi/shown-resource.ts';

type Connection = Row<'Connection'>;

/** A fact of an account, with its source. */
const fact = z.object({
  value: z.string().describe('The fact; as JSON if it is no text.'),
  source: z
    .enum(['input', 'token', 'provider'])
    .describe(
      "The source of the fact: the builder's input, the response with the token, or the provider.",
    ),
  displayName: z.string().optional().describe('The display name.'),
});

const { apiKey, oauth2AuthorizationCode } = connectionCredentialsResource.shape;

/** A row has credentials only if the request asks for them. */
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
      .record(z.string(), fact)
      .nullable()
      .describe('Further facts of the account, from the builder and the provider, by name.'),
    ({ providerMetadata }: Connection) => showFacts(providerMetadata),
  ),
  apiKey: apiKey.describe('The API key in clear; only if includeCreds is true.'),
  oauth2AuthorizationCode: oauth2AuthorizationCode.describe(
    'The tokens in clear; only if includeCreds or includeRefreshToken is true.',
  ),
});

/** Callers send facts with their source, or plain: a plain one is the builder's. */
function showFacts(stored: unknown): Record<string, z.output<typeof fact>> | null {
  if (typeof stored !== 'object' || stored === null) return null;
  const facts = Object.entries(stored).map(([name, value]) => {
    const { data } = fact.safeParse(value);
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return [name, data ?? { value: text, source: 'input' }];
  });
  return Object.fromEntries(facts);
}
