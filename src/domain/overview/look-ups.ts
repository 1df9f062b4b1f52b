/**
 * Look-ups of one object of a project, by its id or by names of the builder. A look-up returns null if the project has no
 * such object, or if the viewer may not see it.
 */
import { load } from '../access/batched.ts';
import type { Call, RowCall } from '../access/call.ts';
import { read } from '../access/declared-read.ts';
import { byId, listVisibleRows, type ProjectTable, type Row } from '../access/scope.ts';
import { orEndUser, orPage } from '../access/viewer/needs.ts';
import { findConnectionOfGroup } from '../connections/connection/connection-of-group.ts';
import { findDefaultApp } from '../connections/provider/provider-app.ts';
import { findDestination } from '../events/destination.ts';
import { findTopic } from '../events/topic.ts';
import { findIntegration } from '../integrations/integration/integration.ts';
import { findConsumerByRef, findGroupByRef } from '../tenants/project/parties.ts';

type Project = Pick<Row<'Project'>, 'id'>;

type OptionalKeys<N extends string> = { [name in N]?: string | null | undefined };

/** Adds the meaning of null to the description of a look-up. */
const describeLookUp = (description: string) =>
  `${description} Null if there is none, or if the caller may not see it.`;

export const lookUpDestination = read(
  'read',
  describeLookUp('A destination of the project, by its id or name.'),
  (call: RowCall, { id: projectId }: Project, idOrName: string) =>
    findDestination(call, { projectId, idOrName }),
);

export const lookUpTopic = read(
  'read',
  describeLookUp('A topic of the project, by its id or name.'),
  (call: RowCall, { id: projectId }: Project, idOrName: string) =>
    findTopic(call, { projectId, idOrName }),
);

export const lookUpGroup = read(
  orEndUser('read'),
  describeLookUp("A group of the project, by its id or the builder's own ref."),
  async (call: Call, { id: projectId }: Project, idOrRef: string) =>
    (await findById(call, 'Group', { projectId, id: idOrRef })) ??
    findGroupByRef(call, { projectId, groupRef: idOrRef }),
);

export const lookUpConsumer = read(
  orEndUser('read'),
  describeLookUp("A consumer of the project, by its id or the builder's own ref."),
  async (call: Call, { id: projectId }: Project, idOrRef: string) =>
    (await findById(call, 'Consumer', { projectId, id: idOrRef })) ??
    findConsumerByRef(call, { projectId, consumerRef: idOrRef }),
);

/** Without a consumer, returns the connection that new installations of the group use. */
export const lookUpConnection = read(
  orEndUser('read'),
  describeLookUp(
    'A connection of the project: by its id, or by its provider and group. Give exactly one of them.',
  ),
  async (
    call: Call,
    { id: projectId }: Project,
    keys: OptionalKeys<'id' | 'provider' | 'groupRef' | 'consumerRef'>,
  ): Promise<Row<'Connection'> | null> => {
    const { id, provider, groupRef, consumerRef } = keys;
    if (id != null) return findById(call, 'Connection', { projectId, id });
    if (provider == null || groupRef == null) return null;
    const [group, consumer] = await Promise.all([
      findGroupByRef(call, { projectId, groupRef }),
      consumerRef == null ? null : findConsumerByRef(call, { projectId, consumerRef }),
    ]);
    if (!group || (consumerRef != null && !consumer)) return null;
    const groupKey = { projectId, provider, groupId: group.id };
    if (consumer) {
      const [connection] = await listVisibleRows(call, 'Connection', {
        ...groupKey,
        consumerId: consumer.id,
      });
      return connection ?? null;
    }
    const connection = await findConnectionOfGroup(call.database.prisma, groupKey);
    return connection && findById(call, 'Connection', { projectId, id: connection.id });
  },
);

export const lookUpInstallation = read(
  orEndUser('read'),
  describeLookUp(
    'An installation of the project: by its id, or by its integration and group. Give exactly one of them.',
  ),
  async (
    call: Call,
    { id: projectId }: Project,
    { id, integrationIdOrName, groupRef }: OptionalKeys<'id' | 'integrationIdOrName' | 'groupRef'>,
  ): Promise<Row<'Installation'> | null> => {
    if (id != null) return findById(call, 'Installation', { projectId, id });
    if (integrationIdOrName == null || groupRef == null) return null;
    const [integration, group] = await Promise.all([
      findIntegration(call, projectId, integrationIdOrName),
      findGroupByRef(call, { projectId, groupRef }),
    ]);
    if (!integration || !group) return null;
    const parties = { projectId, integrationId: integration.id, groupId: group.id };
    const [installation] = await listVisibleRows(call, 'Installation', parties);
    return installation ?? null;
  },
);

/** Without an id, returns the newest app for the provider, which OAuth flows use by default. */
export const lookUpProviderApp = read(
  orPage('read'),
  describeLookUp(
    'A provider app of the project: by its id, or by provider, which returns the newest app, the default for OAuth flows. Give exactly one of them.',
  ),
  async (
    call: Call,
    { id: projectId }: Project,
    { id, provider }: OptionalKeys<'id' | 'provider'>,
  ): Promise<Row<'ProviderApp'> | null> => {
    if (id != null) return findById(call, 'ProviderApp', { projectId, id });
    return provider == null ? null : findDefaultApp(call, { projectId, provider });
  },
);

/** Finds a row of the project by id. Null if the id belongs to another project. */
async function findById<T extends ProjectTable>(
  call: Call,
  table: T,
  { projectId, id }: { projectId: string; id: string },
): Promise<Row<T> | null> {
  const row = (await load(call, byId(table), id)) as (Row<T> & { projectId: string }) | null;
  return row?.projectId === projectId ? row : null;
}
